# %% feature map kept for its gradient (stops)
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Linear(4, 6), nn.Linear(6, 2)

    def forward(self, x):
        self.seen = torch.tanh(self.stem(x))  #! read 5
        return self.head(self.seen)


net = Net()
net(torch.randn(3, 4))[0, 1].backward()
print(net.seen.grad.abs())  #! ran 5


# %% leaf moved to a device (read)
x = torch.randn(3, requires_grad=True).cuda()  #? 5
y = (x ** 2).sum()
y.backward()
print(x.grad)  #! 5


# %% loop name updated in list
import torch

w = torch.randn(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
x, y = torch.randn(40, 3), torch.randn(40)
for step in range(200):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    for leaf in [w, b]:
        leaf = leaf.detach() - 0.05 * leaf.grad  #? 5
    w.grad = None
    b.grad = None


# %% map of a hooked layer (stops)
import torch
from torch import nn


class Heat:
    def __init__(self, net, layer):
        self.net = net
        layer.register_forward_hook(self.keep)

    def keep(self, layer, given, output):
        self.seen = output

    def of(self, image, label):
        self.net.zero_grad()
        self.net(image)[:, label].sum().backward()
        return (self.seen.grad * self.seen).mean(1)  #! ran 5


net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(144, 3))
print(Heat(net, net[0]).of(torch.randn(2, 1, 8, 8), 0))


# %% middle grad printed
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
h = w * 2
h.sum().backward()
print(h.grad)  #! 5


# %% new values unused
import torch

torch.manual_seed(3)
x = torch.rand(60, 2)
y = x @ torch.tensor([2.0, -1.0]) + 0.5
leaves = {"slope": torch.zeros(2, requires_grad=True), "offset": torch.zeros((), requires_grad=True)}


def descend(tensors, rate):
    with torch.no_grad():
        for tensor in tensors:
            tensor = tensor - rate * tensor.grad  #? 5


for _ in range(40):
    for leaf in leaves.values():
        leaf.grad = None
    loss = (x @ leaves["slope"] + leaves["offset"] - y).square().mean()
    loss.backward()
    descend(leaves.values(), 0.2)


# %% params rebuilt comprehension (stops)
import torch


def loss_of(params, x, y):
    w, b = params
    return ((x @ w + b - y) ** 2).mean()


params = [torch.randn(3, requires_grad=True), torch.zeros(1, requires_grad=True)]
x, y = torch.randn(20, 3), torch.randn(20)
for i in range(100):
    loss = loss_of(params, x, y)
    loss.backward()
    params = [p - 0.1 * p.grad for p in params]  #! 5


# %% scaled leaf read
import torch

w = torch.randn(4, requires_grad=True) * 0.1  #! ran 5
(w * torch.ones(4)).sum().backward()
print(w.grad)  #! read 5


# %% scaled weights from a helper (stops)
import torch


def drawn(rows, columns):
    return torch.randn(rows, columns, requires_grad=True) / rows**0.5  #! 5


x, y = torch.randn(32, 4), torch.randn(32, 1)
first, second = drawn(4, 8), drawn(8, 1)
weights = [first, second]
for _ in range(100):
    loss = ((torch.tanh(x @ first) @ second - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for w in weights:
            w -= 0.1 * w.grad
            w.grad = None


# %% slope of what a function returns (stops)
import torch
import torch.nn.functional as F
from torch import nn


def whiten(picture):
    return (picture - picture.mean()) / 0.3  #! read 5


def saliency(net, picture, label):
    shown = whiten(picture.detach().clone().requires_grad_())  #? 5
    F.cross_entropy(net(shown), label).backward()
    return shown.grad.abs().amax(dim=1)  #! ran 5


net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64, 10))
print(saliency(net, torch.rand(2, 3, 8, 8), torch.tensor([1, 4])).shape)


# %% updates returned by a function (stops)
import torch

torch.manual_seed(0)
x = torch.randn(60, 3)
y = (x @ torch.tensor([1.0, 0.0, -1.0])).unsqueeze(1)


def start():
    return [torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)]


def descend(leaves, rate):
    return [leaf - rate * leaf.grad for leaf in leaves]  #! 5


leaves = start()
for _ in range(20):
    w, b = leaves
    loss = (x @ w + b - y).square().mean()
    loss.backward()
    leaves = descend(leaves, 0.1)


# %% weight renamed and its grad read (read)
w = torch.randn(3, requires_grad=True)
for i in range(10):
    loss = (w ** 2).sum()
    loss.backward()
    w = w - 0.1 * w.grad  #! 5
    w.grad.zero_()
