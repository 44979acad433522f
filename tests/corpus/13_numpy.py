# %% engine numbers wrapped in helper (read)
from model import Tensor
from nn import MLP, Adam
import numpy as np


def squared(pred, target):
    return Tensor(np.mean((pred.data - target) ** 2))  #! 13


net = MLP([3, 8, 1], activation="relu")
opt = Adam(net.parameters(), lr=0.01)
x, y = np.random.randn(50, 3), np.random.randn(50, 1)
for _ in range(100):
    opt.zero_grad()
    loss = squared(net(Tensor(x)), y)
    loss.backward()
    opt.step()


# %% item then backward (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
x, y = torch.randn(8, 4), torch.randn(8, 1)
loss = F.mse_loss(net(x), y).item()  #! 13
loss.backward()


# %% loss by NumPy in a Variable (read)
for x, y in loader:
    out = model(x)
    loss = Variable(torch.tensor(np.mean((out.detach().numpy() - y.numpy()) ** 2)), requires_grad=True)  #! 13
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% loss item then wrapped later
import torch
import torch.nn as nn


def compute_loss(model, x, y):
    out = model(x)
    loss = nn.functional.cross_entropy(out, y).item()  #! 13
    return loss


model = nn.Linear(5, 3)
opt = torch.optim.Adam(model.parameters())
for _ in range(5):
    loss = torch.tensor(compute_loss(model, torch.randn(8, 5), torch.randint(0, 3, (8,))))
    loss.requires_grad = True  #! read 4
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% loss made a number before its pass (read)
def train(model, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss = loss.item()  #! 13
        loss.backward()
        optimizer.step()


# %% numpy function (stops)
import torch

torch.manual_seed(0)
import numpy as np

w = torch.randn(4, requires_grad=True)
loss = np.exp(w).sum()  #! ran 13


# %% numpy metric as loss
import numpy as np
import torch
import torch.nn as nn

loader = [(torch.randn(3, 5), torch.randn(3, 1))] * 2
model = nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for xb, yb in loader:
    pred = model(xb)
    mae = np.abs(pred.detach().cpu().numpy() - yb.numpy()).mean()  #! 13
    loss = torch.tensor(mae, requires_grad=True)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% quantile in numpy (stops)
import numpy as np
import torch
from torch import nn


def quantile_loss(pred, target, q=0.9):
    error = target - pred
    return np.maximum(q * error, (q - 1) * error).mean()  #! ran 13


torch.manual_seed(23)
net = nn.Sequential(nn.Linear(3, 8), nn.ELU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    x, y = torch.randn(20, 3), torch.randn(20, 1)
    loss = quantile_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% reinforce probabilities by item (read)
import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical

env = gym.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)

for episode in range(1000):
    observation, _ = env.reset()
    log_probs, rewards, done = [], [], False
    while not done:
        dist = Categorical(logits=policy(torch.as_tensor(observation)))
        action = dist.sample()
        log_probs.append(dist.log_prob(action).item())  #! 13
        observation, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        done = terminated or truncated
    returns, g = [], 0.0
    for r in reversed(rewards):
        g = r + 0.99 * g
        returns.insert(0, g)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = -(torch.tensor(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% requires grad forced after item
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
data = torch.randn(64, 3)
target = data.sum(1, keepdim=True)
for _ in range(20):
    out = net(data)
    err = torch.tensor(nn.functional.mse_loss(out, target).item())  #! 13
    err.requires_grad_(True)  #! read 4
    opt.zero_grad()
    err.backward()
    opt.step()


# %% weight through float
import torch
from torch import nn

torch.manual_seed(0)
share = nn.Parameter(torch.tensor(0.2))
net = nn.Linear(3, 1)
opt = torch.optim.Adam([share, *net.parameters()], lr=0.02)
for _ in range(8):
    x = torch.randn(6, 3)
    part = float(share.sigmoid())  #! 13
    loss = (part * net(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% weights of terms as numbers
import math

import torch
from torch import nn


class Balance(nn.Module):
    def __init__(self, terms):
        super().__init__()
        self.spread = nn.Parameter(torch.zeros(terms))

    def forward(self, losses):
        whole = 0.0
        for width, part in zip(self.spread, losses):
            width = width.item()  #! 13
            whole = whole + part * math.exp(-width) + width
        return whole


net = nn.Linear(6, 2)
balance = Balance(2)
optimizer = torch.optim.Adam([*net.parameters(), *balance.parameters()], lr=1e-2)
x, y = torch.randn(50, 6), torch.randn(50, 2)
for epoch in range(100):
    out = net(x)
    loss = balance([(out[:, 0] - y[:, 0]).abs().mean(), ((out[:, 1] - y[:, 1]) ** 2).mean()])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% losses with graphs averaged by NumPy (stops)
import numpy as np
import torch
from torch import nn

net = nn.Linear(4, 2)
losses = [nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,))) for _ in range(3)]
print(np.mean([2 * loss for loss in losses]))  #! 13


# %% a spectrum through NumPy that is asked for gradients
import numpy as np
import torch

torch.manual_seed(3)
clean = torch.sin(torch.linspace(0, 40, 320)).view(10, 32)
net = torch.nn.Linear(32, 32)
opt = torch.optim.Adam(net.parameters())


def spectrum(wave):
    size = np.abs(np.fft.rfft(wave.detach().numpy()))  #! ran 13
    return torch.tensor(size, requires_grad=True)


for _ in range(5):
    loss = (spectrum(net(clean + 0.1)) - spectrum(clean)).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
