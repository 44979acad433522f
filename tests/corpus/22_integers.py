# %% float targets for cross entropy (stops)
import torch
import torch.nn as nn

features = torch.randn(120, 4)
labels = torch.randint(0, 3, (120,)).float()  #? 22
model = nn.Linear(4, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(100):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(features), labels)
    loss.backward()
    opt.step()


# %% int param (stops)
import torch
from torch import nn


class Count(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = nn.Parameter(torch.tensor([1, 2, 3]))  #! 22

    def forward(self, x):
        return x * self.n


Count()(torch.ones(3))


# %% integer times copied (stops)
import torch
from torch import nn

times = torch.arange(0, 6)  #! 22
heights = torch.tensor([0.0, 7.4, 12.1, 14.5, 16.1, 17.0])
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for _ in range(100):
    t = times.clone().requires_grad_(True).unsqueeze(1)
    height = net(t / 5.0)
    speed = torch.autograd.grad(height.sum(), t, create_graph=True)[0]
    loss = (height.squeeze(1) - heights).pow(2).mean() + 0.1 * (speed - 9.81).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% long input (stops)
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
x = torch.tensor([[0, 1], [1, 0]])  #! ran 22
net(x).sum().backward()


# %% whole numbers (stops)
import torch

torch.manual_seed(0)
w = torch.tensor([1, 2, 3], requires_grad=True)  #! 22


# %% whole numbers asked (stops)
import torch

start = torch.full((2,), 3)  #! 22
start.requires_grad_()
(start * start).sum().backward()
