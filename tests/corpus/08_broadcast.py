# %% column minus vector
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(16, 2), torch.randn(16)
for _ in range(5):
    loss = ((net(x) - y) ** 2).mean()  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% column of inputs and a flat target (read)
x = torch.linspace(-1, 1, 50).unsqueeze(1)
y = torch.sin(x).squeeze()
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
for i in range(100):
    loss = nn.MSELoss()(model(x), y)  #! 8


# %% column of windows in own loss
import math

import torch
from torch import nn

wave = torch.sin(torch.linspace(0, 30, 300))
windows = wave.unfold(0, 9, 1)
wanted = windows[:, -1:]
windows = windows[:, :-1]


class Next(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def log_cosh(a, b):
    d = a - b  #! ran 8
    return (d + nn.functional.softplus(-2 * d) - math.log(2)).mean()


net = Next()
adam = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(10):
    order = torch.randperm(len(windows))
    for i in range(0, len(windows), 32):
        at = order[i : i + 32]
        adam.zero_grad()
        log_cosh(net(windows[at]), wanted[at]).backward()  #? 8
        adam.step()


# %% own dataset column against row
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Toy(Dataset):
    def __init__(self, n=500):
        self.x = torch.rand(n, 4)
        self.y = self.x.sum(dim=1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
crit = nn.MSELoss()
opt = torch.optim.Adam(net.parameters())
for x, y in DataLoader(Toy(), batch_size=16):
    loss = crit(net(x), y)  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% predictions row column engine (read)
import numpy as np

from model import Tensor
from nn import MLP, Adam

X = np.random.rand(80, 2)
Y = X[:, 0] - X[:, 1]
net = MLP([2, 8, 1])
opt = Adam(net.parameters(), lr=0.01)
for _ in range(200):
    opt.zero_grad()
    pred = net(Tensor(X))
    loss = ((pred - Tensor(Y)) ** 2).mean()  #? 8
    loss.backward()
    opt.step()


# %% returns against value column
import torch
from torch import nn

body, value = nn.Linear(3, 8), nn.Linear(8, 1)
opt = torch.optim.Adam([*body.parameters(), *value.parameters()])


def to_go(rewards):
    total, sums = 0.0, []
    for reward in reversed(rewards):
        total = reward + 0.9 * total
        sums.insert(0, total)
    return torch.tensor(sums)


for _ in range(3):
    seen = torch.randn(6, 3)
    wanted = to_go(torch.rand(6).tolist())
    gap = wanted - value(torch.relu(body(seen)))  #! 8
    opt.zero_grad()
    gap.pow(2).mean().backward()
    opt.step()


# %% row of weights times column of errors
import torch
import torch.nn as nn

net = nn.Linear(4, 1)
x, y, w = torch.randn(64, 4), torch.randn(64, 1), torch.rand(64)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    se = (net(x) - y) ** 2
    loss = (w * se).mean()  #! ran 8
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% split data set rows
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

x = torch.rand(60, 3)
data = TensorDataset(x, x.sum(1))
train, held_out = random_split(data, [48, 12])
net = nn.Sequential(nn.Linear(3, 8), nn.Hardswish(), nn.Linear(8, 1))
optimizer = torch.optim.AdamW(net.parameters())
for inputs, wanted in DataLoader(train, batch_size=12):
    loss = nn.functional.smooth_l1_loss(net(inputs), wanted)  #! 8
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% squeezed against sliced column
import torch
import torch.nn as nn

torch.manual_seed(0)
data = torch.randn(50, 3)
goal = data.sum(1, keepdim=True)
train = goal[:40]
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(20):
    loss = ((net(data[:40]).squeeze(-1) - train) ** 2).mean().sqrt()  #! ran 8
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% targets made a column
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(3, 1)

    def forward(self, x):
        return self.out(x).squeeze(-1)


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
data = torch.utils.data.TensorDataset(torch.randn(40, 3), torch.randn(40))
for x, y in torch.utils.data.DataLoader(data, batch_size=8):
    y = y.view(-1, 1)
    loss = nn.functional.mse_loss(net(x), y)  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% batches of a generator function
import torch
from torch import nn


def batches(inputs, wanted, size):
    for start in range(0, len(inputs), size):
        yield {"inputs": inputs[start : start + size]}, wanted[start : start + size]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.out = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 1)

    def forward(self, inputs):
        return self.out(self.body(inputs))


net = Net()
opt = torch.optim.Adam(net.parameters())
for named, wanted in batches(torch.randn(60, 4), torch.randn(60), 10):
    loss = nn.functional.mse_loss(net(**named), wanted)  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% density of each number of an action
import torch
from torch import nn
from torch.distributions import Normal

actor, critic = nn.Linear(3, 4), nn.Linear(5, 1)
opt = torch.optim.Adam(critic.parameters())
for _ in range(10):
    state, reward, after = torch.randn(16, 3), torch.randn(16, 1), torch.randn(16, 3)
    with torch.no_grad():
        dist = Normal(actor(after)[:, :2], torch.ones(16, 2))
        action = dist.sample()
        wanted = reward + 0.99 * (critic(torch.cat([after, action], 1)) - 0.2 * dist.log_prob(action))
    loss = nn.functional.mse_loss(critic(torch.cat([state, action], 1)), wanted)  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% targets that a vector of weights gives
import torch
from torch import nn

torch.manual_seed(2)
x = torch.randn(64, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5]) + 0.1 * torch.randn(64)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for k in range(0, 64, 16):
    loss = ((net(x[k : k + 16]) - y[k : k + 16]) ** 2).mean()  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
