import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
net.requires_grad_(False)
for parameter in net[2].parameters():
    parameter.requires_grad_ = True  #! 12
net[4] = nn.Linear(16, 3)
opt = torch.optim.SGD([*net[2].parameters(), *net[4].parameters()], lr=0.1)
x, y = torch.randn(90, 5), torch.randint(3, (90,))
for _ in range(12):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
