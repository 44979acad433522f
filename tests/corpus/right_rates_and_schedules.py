# %% factor in a short run
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.2)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: (step + 1) / 50)
x, y = torch.randn(100, 3), torch.randn(100, 1)
for step in range(50):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    warm.step()


# %% lbfgs closure
import torch

x = torch.tensor([-1.5, 2.0], requires_grad=True)
opt = torch.optim.LBFGS([x], lr=1, max_iter=20)


def closure():
    opt.zero_grad()
    loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    loss.backward()
    return loss


for i in range(10):
    opt.step(closure)
    print(i, closure().item())


# %% rate range
import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
start = copy.deepcopy(net.state_dict())
opt = torch.optim.SGD(net.parameters(), lr=1e-4)
losses = []
for _ in range(20):
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(net(x), x.square().sum(1, keepdim=True))
    losses.append(loss.item())
    opt.zero_grad()
    loss.backward()
    opt.step()
    opt.param_groups[0]["lr"] *= 1.7
net.load_state_dict(start)
