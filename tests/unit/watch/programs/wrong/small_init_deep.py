import torch
import torch.nn as nn
torch.manual_seed(0)
layers = []
for _ in range(8):
    layer = nn.Linear(16, 16)
    nn.init.normal_(layer.weight, std=0.01)  #! 15
    layers += [layer, nn.ReLU()]
net = nn.Sequential(*layers, nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 16), torch.randint(2, (64,))
for _ in range(20):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
