# %% float targets for cross entropy (stops)
import torch
import torch.nn as nn

features = torch.randn(120, 4)
labels = torch.randint(0, 3, (120,)).float()  #! read 22
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


# %% integers told to ask (stops)
import torch

x = torch.tensor([3, 4])  #! 22
x.requires_grad = True


# %% long input (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(2, 1)
x = torch.tensor([[0, 1], [1, 0]])  #! 22
net(x).sum().backward()


# %% whole numbers (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.tensor([1, 2, 3], requires_grad=True)  #! 22


# %% whole numbers asked (stops)
import torch

start = torch.tensor([3, -1])  #! 22
start.requires_grad_()
(start * start).sum().backward()
