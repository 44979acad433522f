# %% logarithm and line
import torch
from torch import nn


def soft_log(v):
    return torch.where(0 < v, torch.log(v + 1), 0.5 * v)  #? 20


net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(64, 4), 50 * torch.randn(64, 1)
for step in range(100):
    out = net(x)
    loss = (soft_log(out) - soft_log(y)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% masked fill log
import torch
w = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
for _ in range(3):
    y = torch.log(w).masked_fill(w <= 0, 0.0)  #! ran 20
    y.sum().backward()
    print(w.grad)
    w.grad = None


# %% one over distance behind where
import torch

torch.manual_seed(0)
place = torch.tensor([[0.0, 1.0], [2.0, 1.0]], requires_grad=True)
opt = torch.optim.SGD([place], lr=0.01)
for _ in range(3):
    apart = (place[:, None] - place[None]).square().sum(-1)
    energy = torch.where(apart > 1e-9, 2.0 / apart, torch.zeros_like(apart)).sum()  #! 20
    opt.zero_grad()
    energy.backward()
    opt.step()


# %% root behind where
import torch

torch.manual_seed(0)
x = torch.tensor([-1.0, 0.0, 4.0], requires_grad=True)
y = torch.where(x > 0, x.sqrt(), torch.zeros(3))  #! 20
y.sum().backward()
print(x.grad)


# %% root unit with a line
import torch
from torch import nn


class RootUnit(nn.Module):
    def __init__(self, lift=0.04):
        super().__init__()
        self.lift = lift

    def forward(self, u):
        bent = (u + self.lift) ** 0.5 - self.lift**0.5  #? 20
        return torch.where(u >= 0, bent, 0.2 * u)  #! ran 20


net = nn.Sequential(nn.Linear(3, 16), RootUnit(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.randn(128, 3)
y = x.abs().sum(1, keepdim=True)
for step in range(200):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()


# %% sinc layer where
import math

import torch
from torch import nn


def sinc(t):
    scaled = math.pi * t
    return torch.where(t == 0, torch.ones_like(t), torch.sin(scaled) / scaled)  #! read 20


class SincConv(nn.Module):
    def __init__(self, filters, length):
        super().__init__()
        self.cutoff = nn.Parameter(torch.rand(filters))
        self.register_buffer("n", torch.arange(length) - length // 2)

    def forward(self, wave):
        kernel = sinc(2 * self.cutoff.unsqueeze(1) * self.n)
        return torch.nn.functional.conv1d(wave, kernel.unsqueeze(1))


# %% unit length behind where (read)
class L(nn.Module):
    def forward(self, x):
        n = x.norm(dim=-1, keepdim=True)
        return torch.where(n > 0, x / n, torch.zeros_like(x))  #! 20


# %% where around division
import torch

x = torch.linspace(-1, 1, 5, requires_grad=True)
sinc = torch.where(x == 0, torch.ones_like(x), torch.sin(x) / x)  #! 20
loss = sinc.sum()
loss.backward()


# %% where chooses after the root
import torch

points = torch.randn(5, 2, requires_grad=True)
optimizer = torch.optim.SGD([points], lr=0.1)
itself = torch.eye(5, dtype=torch.bool)
for _ in range(3):
    squared = (points[:, None] - points[None]).pow(2).sum(-1)
    apart = torch.where(itself, torch.ones(5, 5), squared.sqrt())  #! ran 20
    loss = (apart - 1).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% exponential on the other side
import torch
from torch import nn


def bent(a):
    return torch.where(a <= 0, torch.exp(a), 1 + a)  #! 20


torch.manual_seed(0)
first, last = nn.Linear(3, 16), nn.Linear(16, 1)
opt = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=1e-3)
for step in range(4):
    x = torch.randn(32, 3) * 400
    loss = nn.functional.mse_loss(last(bent(first(x))) / 400, x.sum(1, keepdim=True) / 400)
    opt.zero_grad()
    loss.backward()
    opt.step()
