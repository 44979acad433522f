# %% constant column
import torch
import torch.nn as nn
torch.manual_seed(0)
x = torch.randn(32, 4)
x[:, 2] = 1.0
x = (x - x.mean(0)) / x.std(0)  #! ran 9
y = torch.randn(32, 1)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(5):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()


# %% exp overflow
import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(32, 4) * 200, torch.randint(3, (32,))
for _ in range(5):
    e = torch.exp(net(x))  #! ran 9
    p = e / e.sum(1, keepdim=True)
    loss = -torch.log(p[range(32), y]).mean()  #! read 9
    opt.zero_grad(); loss.backward(); opt.step()


# %% kl log of zero
import torch
from torch import nn


def kl(p, q):
    return (p * (p / q).log()).sum(-1).mean()  #! read 9


a, b = nn.Linear(3, 4), nn.Linear(3, 4)
opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
for x in [torch.randn(5, 3)] * 3:
    opt.zero_grad()
    kl(torch.softmax(a(x), -1), torch.softmax(b(x), -1)).backward()
    opt.step()


# %% length of a zero vector
import torch

v = torch.zeros(3, requires_grad=True)
target = torch.tensor([1.0, 2.0, 2.0])
opt = torch.optim.SGD([v], lr=0.1)
for i in range(100):
    loss = (v - target).pow(2).sum() + 0.01 * v.pow(2).sum().sqrt()  #! 9
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% log of zero probability
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
logits = torch.tensor([[200.0, 0.0], [0.0, 1.0]], requires_grad=True)
p = torch.softmax(logits, dim=1)
entropy = -(p * torch.log(p)).sum(dim=1).mean()  #! 9
entropy.backward()


# %% power half
import torch
from torch import nn

net = nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)


def distance(a, b):
    return ((a - b) ** 2).sum(1) ** 0.5  #! read 9


for a, b in [(torch.randn(3, 2), torch.randn(3, 2))] * 2:
    opt.zero_grad()
    distance(net(a), net(b)).mean().backward()
    opt.step()


# %% size of rectified by power
import torch
from torch import nn

net = nn.Linear(4, 6)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for turn in range(50):
    rates = torch.relu(net(torch.randn(20, 4)))
    sizes = rates.sum(1).pow(0.5)  #! read 9
    loss = (sizes - 1.0).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% softmax by hand log
import torch
import torch.nn as nn


def nll(logits, y):
    probs = logits.exp() / logits.exp().sum(1, keepdim=True)  #! ran 9
    return -probs.gather(1, y.view(-1, 1)).log().mean()  #? 9


net = nn.Linear(10, 5)
opt = torch.optim.SGD(net.parameters(), lr=1.0)
for x, y in [(100 * torch.randn(6, 10), torch.randint(0, 5, (6,)))] * 3:
    opt.zero_grad()
    loss = nll(net(x), y)
    loss.backward()
    opt.step()


# %% softmax masked
import torch
import torch.nn as nn
torch.manual_seed(0)
q, k = nn.Linear(4, 4), nn.Linear(4, 4)
opt = torch.optim.SGD([*q.parameters(), *k.parameters()], lr=0.01)
for step in range(3):
    x = torch.randn(2, 5, 4)
    pad = torch.zeros(2, 5, dtype=torch.bool)
    pad[1, :] = True
    scores = q(x) @ k(x).transpose(1, 2)
    scores = scores.masked_fill(pad[:, None, :], float("-inf"))
    att = scores.softmax(-1)  #! ran 9
    loss = (att @ x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()


# %% spread of relu outputs
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
x = torch.randn(64, 4)
z = net(x)
zn = (z - z.mean(0)) / z.std(0)  #! read 9
zn.pow(4).mean().backward()


# %% std one
import torch
import torch.nn as nn
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for size in (8, 8, 1):
    x = torch.randn(size, 4)
    h = net(x)
    h = (h - h.mean(0)) / h.std(0)  #! ran 9
    loss = h.pow(4).mean()
    opt.zero_grad(); loss.backward(); opt.step()
