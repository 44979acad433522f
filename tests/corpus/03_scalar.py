# %% loop loss list backward (stops)
import torch
from torch import nn

net = nn.GRU(2, 4)
out = nn.Linear(4, 1)
opt = torch.optim.Adam([*net.parameters(), *out.parameters()])
seqs = [(torch.randn(5, 1, 2), torch.randn(5, 1, 1)) for _ in range(8)]
for epoch in range(2):
    per_step = []
    for x, y in seqs:
        h, _ = net(x)
        per_step.append((out(h) - y).pow(2))
    loss = torch.stack(per_step)  #! 3
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% loss per sample (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(3, 2)
loss = F.cross_entropy(net(torch.randn(7, 3)), torch.zeros(7, dtype=torch.long), reduction="none")  #! 3
loss.backward()


# %% losses of columns (stops)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
gap = net(torch.randn(10, 4)) - 1
each = gap.abs().sum(dim=0)  #! 3
each.backward()


# %% squares of two weights joined (stops)
import torch

w, v = torch.randn(6, requires_grad=True), torch.randn(6, requires_grad=True)
torch.cat([w**2, v**2]).backward()  #! 3


# %% partial loss vector (read)
from functools import partial

import torch
import torch.nn.functional as F

loss_fn = partial(F.binary_cross_entropy_with_logits, reduction="none")
model = torch.nn.Linear(12, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = loss_fn(model(x).squeeze(1), y)  #! 3
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% slope of a whole column (stops)
import torch
from torch import nn

net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


def slope(height, place):
    return torch.autograd.grad(height, place, create_graph=True)[0]  #! read 3


for turn in range(200):
    place = torch.rand(40, 1, requires_grad=True)
    height = net(place)  #! ran 3
    loss = (slope(height, place) + height).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% weighted per sample (stops)
import torch
from torch import nn


def weighted(out, target):
    errors = nn.functional.mse_loss(out, target, reduction="none").mean(dim=1)
    return errors * torch.linspace(0, 1, len(errors))  #! ran 3


torch.manual_seed(0)
net = nn.Linear(4, 2)
value = weighted(net(torch.randn(6, 4)), torch.randn(6, 2))
value.backward()
