import torch
import torch.nn as nn


def make(depth=12, width=32):
    layers = [nn.Linear(2, width), nn.Sigmoid()]
    for _ in range(depth):
        layers.append(nn.Linear(width, width))
        layers.append(nn.Sigmoid())  #! 15
    layers.append(nn.Linear(width, 1))
    return nn.Sequential(*layers)


net = make()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(64, 2)
y = (x[:, :1] * x[:, 1:] > 0).float()
for _ in range(10):
    opt.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
    loss.backward()
    opt.step()
