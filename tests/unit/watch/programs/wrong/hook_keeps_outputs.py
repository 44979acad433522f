import torch
from torch import nn

torch.manual_seed(18)
features = {}


def keep(module, args, output):
    features.setdefault("hidden", []).append(output)  #! 10


net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
net[1].register_forward_hook(keep)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(20):
    x, y = torch.randn(10, 6), torch.randint(2, (10,))
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(features["hidden"]))
