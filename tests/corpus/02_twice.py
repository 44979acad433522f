# %% asked twice of one graph (stops)
import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    loss = w.exp().sum()
    size = torch.autograd.grad(loss, [w])[0].abs().max()  #? 2
    opt.zero_grad()
    loss.backward()  #! ran 2
    opt.step()


# %% backward twice same loss (stops)
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x**2).sum()
y.backward()
print(x.grad)
x.grad.zero_()
y.backward()  #! 2
print(x.grad)


# %% detector two backwards
import torch


def step(detector, batch, optimizer, weights):
    images, targets = batch
    features = detector.backbone(images)
    boxes = detector.box_head(features)
    scores = detector.class_head(features)
    box_loss = torch.nn.functional.smooth_l1_loss(boxes, targets["boxes"])
    class_loss = torch.nn.functional.cross_entropy(scores, targets["labels"])
    optimizer.zero_grad()
    (weights[0] * box_loss).backward()
    (weights[1] * class_loss).backward()  #? 2
    optimizer.step()
    return box_loss.item(), class_loss.item()


# %% heads by name two passes (stops)
import torch
from torch import nn


class Perception(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(5, 9), nn.Tanh())
        self.branches = nn.ModuleDict({"depth": nn.Linear(9, 1), "edges": nn.Linear(9, 2)})

    def forward(self, image):
        stem = self.stem(image)
        return {name: branch(stem) for name, branch in self.branches.items()}


model = Perception()
adam = torch.optim.Adam(model.parameters())
image = torch.randn(6, 5)
wanted = {"depth": torch.rand(6, 1), "edges": torch.rand(6, 2)}
measure = {"depth": nn.L1Loss(), "edges": nn.MSELoss()}
adam.zero_grad()
answer = model(image)
for name, distance in measure.items():
    distance(answer[name], wanted[name]).backward()  #! 2
adam.step()


# %% old policy computed once with its graph (read)
def update(policy, opt, obs, act, adv):
    old_logp = policy(obs).log_prob(act)  #? 2
    for _ in range(4):
        logp = policy(obs).log_prob(act)
        ratio = torch.exp(logp - old_logp)
        loss = -(ratio * adv).mean()
        opt.zero_grad()
        loss.backward()  #! 2
        opt.step()


# %% one loss for ten steps (read)
out = model(x)
loss = criterion(out, y)
for i in range(10):
    optimizer.zero_grad()
    loss.backward()  #! 2
    optimizer.step()


# %% prior kept by lru cache (stops)
import functools

import torch
from torch import nn

scale = nn.Parameter(torch.zeros(6))
offset = nn.Parameter(torch.zeros(6))
opt = torch.optim.Adam([scale, offset], lr=0.01)


@functools.lru_cache(maxsize=None)  #? 2
def strengths():
    return torch.exp(scale) + 0.1  #! ran 2


for _ in range(50):
    x = torch.randn(32, 6)
    loss = ((x - offset) ** 2 / strengths() + torch.log(strengths())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% prior outside loop (stops)
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
decay = sum(p.pow(2).sum() for p in net.parameters())  #! ran 2
for _ in range(4):
    loss = net(torch.randn(8, 3)).pow(2).mean() + 0.01 * decay
    opt.zero_grad()
    loss.backward()  #! read 2
    opt.step()


# %% two heads two backwards (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
body, a, b = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
h = body(torch.randn(5, 4)).tanh()
first = a(h).pow(2).mean()
second = b(h).pow(2).mean()
first.backward()  #! 2
second.backward()
