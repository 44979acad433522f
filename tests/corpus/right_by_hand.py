# %% by hand data
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
for _ in range(8):
    loss = (w - 1).pow(2).sum()
    loss.backward()
    w.data -= 0.1 * w.grad.data
    w.grad.data.zero_()


# %% finite double
import torch
torch.manual_seed(0)
def f(x):
    return (x.sin() * x.exp()).sum()
x = torch.randn(5, dtype=torch.float64, requires_grad=True)
f(x).backward()
eps = 1e-6
for i in range(5):
    with torch.no_grad():
        a, b = x.clone(), x.clone()
        a[i] += eps
        b[i] -= eps
        num = (f(a) - f(b)) / (2 * eps)
    assert abs(num.item() - x.grad[i].item()) < 1e-6


# %% gradient left decayed
import torch
torch.manual_seed(0)
# momentum by leaving a decayed gradient in place
w = torch.randn(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.01)
for _ in range(8):
    w.square().sum().backward()
    opt.step()
    w.grad.mul_(0.9)


# %% input attack
import torch
import torch.nn.functional as F


def fgsm(model, x, y, eps=0.03):
    x = x.clone().detach().requires_grad_(True)
    loss = F.cross_entropy(model(x), y)
    model.zero_grad()
    loss.backward()
    return (x + eps * x.grad.sign()).clamp(0, 1).detach()


# %% lasso by strength
import torch
from torch import nn
torch.manual_seed(25)
x, y = torch.randn(300, 5), torch.randn(300)
def fit(lam):
    w, b = torch.zeros(5, requires_grad=True), torch.zeros((), requires_grad=True)
    opt = torch.optim.SGD([w, b], lr=0.1)
    for epoch in range(20):
        loss = (x @ w + b - y).square().mean() + lam * w.abs().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item(), w.detach()
results = [fit(lam) for lam in (0.0, 0.01, 0.1)]
print(min(results, key=lambda r: r[0])[0])


# %% leaf loaded or made (read)
import torch

try:
    w = torch.load("w.pt").requires_grad_()
except FileNotFoundError:
    w = torch.randn(3, requires_grad=True)
for _ in range(4):
    loss = (w**2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None


# %% loop name stored again
import torch

learned = {"w": torch.randn(3, requires_grad=True), "b": torch.zeros(1, requires_grad=True)}
x, y = torch.randn(40, 3), torch.randn(40)
for step in range(200):
    loss = ((x @ learned["w"] + learned["b"] - y) ** 2).mean()
    loss.backward()
    for name, value in learned.items():
        value = value.detach() - 0.05 * value.grad
        learned[name] = value.requires_grad_()


# %% numpy where nothing is recorded
import torch

w = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
x, y = torch.randn(30, 3), torch.randn(30)
for _ in range(10):
    loss = ((x @ w - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print(w.numpy())


# %% one of three ways by continue
import random

import torch

w = torch.randn(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(9):
    opt.zero_grad()
    loss = (w**2).sum()
    if step % 3 == 0:
        loss.backward()
        opt.step()
        continue
    elif step % 3 == 1:
        (2 * loss).backward()
        opt.step()
        continue
    (loss + w.abs().sum()).backward()
    opt.step()
    if random.random() < 0.01:
        break


# %% scale clamped after each step
import torch

scale = torch.zeros(3, requires_grad=True)
scale.data.fill_(0.5)
opt = torch.optim.SGD([scale], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    loss = -torch.log(scale).sum()
    loss.backward()
    opt.step()
    scale.data.clamp_(min=1e-3)


# %% where with safe input
import torch

x = torch.tensor([-1.0, 0.0, 4.0], requires_grad=True)
safe = torch.where(x > 0, x, torch.ones_like(x))
y = torch.where(x > 0, torch.sqrt(safe), torch.zeros_like(x))
y.sum().backward()
z = torch.where(x > 0, x * 2, x / 3)


# %% without memory
"""Sparse tensors, and those on "meta", have no values at an address; a complex result is no plain number."""

import torch
from torch import nn

torch.manual_seed(0)
table = nn.Embedding(50, 4, sparse=True)
opt = torch.optim.SparseAdam(table.parameters())
for _ in range(4):
    opt.zero_grad()
    table(torch.randint(0, 50, (8, 3))).pow(2).mean().backward()
    opt.step()

edges = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2)).requires_grad_()
edges.data = edges.data * 2
torch.sparse.mm(edges, torch.ones(2, 2)).sum().backward()

with torch.device("meta"):
    shapes = nn.Linear(1000, 1000)
shapes(torch.empty(2, 1000, device="meta")).sum().backward()

z = torch.randn(3, dtype=torch.cfloat, requires_grad=True)
(z * z).sum().backward(torch.tensor(1 + 0j))
