# %% activation maximised
import torch

image = torch.rand(1, 3, 8, 8, requires_grad=True)
pattern = torch.randn(1, 3, 8, 8)
for _ in range(20):
    activation = (torch.sin(image) * pattern).sum()
    activation.backward()
    with torch.no_grad():
        image += 0.1 * image.grad
        image.grad.zero_()
        image.clamp_(0, 1)


# %% both halves emptied
import torch
from torch import nn


class Halves:
    def __init__(self):
        self.first, self.second = nn.Linear(6, 4), nn.Linear(4, 6)
        self.one = torch.optim.SGD(self.first.parameters(), lr=0.05)
        self.two = torch.optim.SGD(self.second.parameters(), lr=0.05)

    def clear(self):
        for weight in [*self.first.parameters(), *self.second.parameters()]:
            weight.grad = None

    def learn(self, x):
        for turn in range(100):
            self.clear()
            loss = (self.second(self.first(x).tanh()) - x).pow(2).mean()
            loss.backward()
            self.one.step()
            self.two.step()


Halves().learn(torch.randn(50, 6))


# %% by hand
import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
for _ in range(8):
    loss = (w - 1).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()


# %% by hand data
import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
for _ in range(8):
    loss = (w - 1).pow(2).sum()
    loss.backward()
    w.data -= 0.1 * w.grad.data
    w.grad.data.zero_()


# %% double where root
import torch


def norm(v, dim=-1):
    sq = (v * v).sum(dim)
    ok = sq > 0
    return torch.where(ok, torch.where(ok, sq, torch.ones_like(sq)).sqrt(), torch.zeros_like(sq))


x = torch.zeros(3, 2, requires_grad=True)
norm(x).sum().backward()


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


# %% gradients changed before the step
import torch
from torch import nn

torch.manual_seed(0)
words = nn.Embedding(10, 4, padding_idx=0)
head = nn.Linear(4, 1)
optimizer = torch.optim.SGD([*words.parameters(), *head.parameters()], lr=0.1)
ids, target = torch.randint(1, 10, (8,)), torch.randn(8, 1)
for turn in range(20):
    optimizer.zero_grad()
    loss = ((head(words(ids)) - target) ** 2).sum()
    loss.backward()
    for p in head.parameters():
        p.grad /= len(ids)
    words.weight.grad[:5] = 0
    words.weight.grad = torch.clamp(words.weight.grad, -1, 1)
    if turn < 10:
        head.bias.grad = None
    optimizer.step()

for turn in range(20):
    optimizer.zero_grad()
    loss = ((head(words(ids)) - target) ** 2).mean()
    loss.backward()
    noisy = [p.grad + 0.01 * torch.randn_like(p.grad) for p in head.parameters()]
    for p, gradient in zip(head.parameters(), noisy):
        p.grad = gradient
    head.bias.grad.zero_()
    optimizer.step()


# %% gradients detached and zeroed
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-1)
for _ in range(5):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.detach_().zero_()
    loss = nn.functional.mse_loss(model(torch.randn(4, 2)), torch.randn(4, 1))
    loss.backward()
    optimizer.step()


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


# %% likelihood with maximize
import torch
from torch.distributions import Normal

centre = torch.tensor(0.0, requires_grad=True)
opt = torch.optim.SGD([centre], lr=0.1, maximize=True)
for _ in range(50):
    opt.zero_grad()
    Normal(centre, 1.0).log_prob(torch.randn(20) + 3).mean().backward()
    opt.step()


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


# %% manual momentum notebook (read)
import torch
import matplotlib.pyplot as plt
%config InlineBackend.figure_format = "retina"

xs = torch.linspace(-2, 2, 80)[:, None]
ys = torch.sin(2 * xs) + 0.1 * torch.randn_like(xs)

torch.manual_seed(0)
W = [torch.randn(1, 20), torch.randn(20, 1) / 20**0.5]
B = [torch.zeros(20), torch.zeros(1)]
P = W + B
for p in P: p.requires_grad = True
V = [torch.zeros_like(p) for p in P]

hist = []
for it in range(2000):
    h = torch.tanh(xs @ W[0] + B[0])
    loss = ((h @ W[1] + B[1] - ys)**2).mean()
    for p in P: p.grad = None
    loss.backward()
    lr = 0.1 if it < 1500 else 0.01
    for p, v in zip(P, V):
        v.mul_(0.9).add_(p.grad)
        p.data += -lr * v
    hist.append(loss.log10().item())

plt.plot(hist)
with torch.no_grad():
    plt.plot(xs, torch.tanh(xs @ W[0] + B[0]) @ W[1] + B[1])


# %% maximised likelihood
import torch

torch.manual_seed(0)
x = torch.randn(50) * 2 + 1
mean = torch.zeros((), requires_grad=True)
opt = torch.optim.Adam([mean], lr=0.05, maximize=True)
for _ in range(10):
    loss = torch.distributions.Normal(mean, 1.0).log_prob(x).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
again = torch.zeros((), requires_grad=True)
second = torch.optim.SGD([again], lr=0.01)
for _ in range(5):
    loss = -torch.distributions.Normal(again, 1.0).log_prob(x).mean()
    second.zero_grad()
    loss.backward()
    second.step()


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


# %% own momentum goes down
import torch


class Rolling:
    def __init__(self, weights, rate):
        self.weights = list(weights)
        self.speeds = [torch.zeros_like(w) for w in self.weights]
        self.rate = rate

    @torch.no_grad()
    def step(self):
        for weight, speed in zip(self.weights, self.speeds):
            speed.mul_(0.8).add_(weight.grad, alpha=-self.rate)
            weight.add_(speed)
            weight.grad = None


net = torch.nn.Linear(3, 1)
roll = Rolling(net.parameters(), 0.01)
rows = torch.randn(40, 3)
for _ in range(30):
    loss = torch.nn.functional.mse_loss(net(rows), rows.sum(1, keepdim=True))
    loss.backward()
    roll.step()


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


# %% up and back before the step
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for _ in range(20):
    F.mse_loss(net(x), y).backward()
    with torch.no_grad():
        steps = [0.05 * p.grad / (p.grad.norm() + 1e-12) for p in net.parameters()]
        for p, step in zip(net.parameters(), steps):
            p.add_(step)
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    with torch.no_grad():
        for p, step in zip(net.parameters(), steps):
            p.sub_(step)
    optimizer.step()
    optimizer.zero_grad()


# %% updates returned as leaves
import torch

torch.manual_seed(0)
x = torch.randn(60, 3)
y = (x @ torch.tensor([1.0, 0.0, -1.0])).unsqueeze(1)


def descend(leaves, rate):
    return [(leaf - rate * leaf.grad).detach().requires_grad_() for leaf in leaves]


leaves = [torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)]
for _ in range(20):
    w, b = leaves
    loss = (x @ w + b - y).square().mean()
    loss.backward()
    leaves = descend(leaves, 0.1)


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


# %% coefficients stepped in a loop over names that are missing (read)
for _ in range(500):
    loss = (a + b * x + c * x**2 - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for p in (a, b, c):
            p -= rate * p.grad
            p.grad = None


# %% a class of one's own that is no Module
import torch


class Scorer:
    def __init__(self, trains=True):
        self.w = torch.rand(3, 3, requires_grad=trains)

    def forward(self, x):
        return x @ self.w


scorer = Scorer()
opt = torch.optim.SGD([scorer.w], lr=0.01)
for _ in range(3):
    opt.zero_grad()
    scorer.forward(torch.randn(4, 3)).square().mean().backward()
    opt.step()
