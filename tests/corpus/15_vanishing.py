# %% deep layers drawn small
import torch
from torch import nn


class Step(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.line(x))


def start(part):
    if isinstance(part, nn.Linear):
        nn.init.normal_(part.weight, 0.0, 0.01)  #! 15


net = nn.Sequential(nn.Linear(5, 100), *[Step(100) for _ in range(9)], nn.Linear(100, 3))
net.apply(start)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(200, 5), torch.randint(0, 3, (200,))
for turn in range(100):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% eight sigmoids
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
layers = []
for _ in range(8):
    layers += [nn.Linear(16, 16), nn.Sigmoid()]  #! 15
net = nn.Sequential(*layers, nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(16, 16)
    loss = F.mse_loss(net(x), x[:, :1])
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% recurrent weights fade
import torch
from torch import nn

LENGTH = 40


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.RNN(2, 10)
        nn.init.orthogonal_(self.memory.weight_hh_l0, 0.4)  #! read 15
        self.end = nn.Linear(10, 1)

    def forward(self, rows):
        out, _ = self.memory(rows)
        return self.end(out[-1])


net = Last()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(20):
    rows = torch.randn(LENGTH, 16, 2)
    loss = nn.functional.mse_loss(net(rows), rows[0, :, :1])
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% rnn long
import torch
import torch.nn as nn
torch.manual_seed(0)
cell = nn.RNN(1, 16, batch_first=True)  #! ran 15
head = nn.Linear(16, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
for _ in range(10):
    x = torch.randn(8, 100, 1)
    h, _h = cell(x)
    loss = (head(h[:, -1]) - x[:, 0]).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()


# %% sigmoid blocks in a row
import torch
import torch.nn as nn
import torch.nn.functional as F


class Blk(nn.Module):
    def __init__(self, i, o, act=torch.sigmoid):  #! ran 15
        super().__init__()
        self.fc, self.act = nn.Linear(i, o), act

    def forward(self, x):
        return self.act(self.fc(x))  #! read 15


net = nn.Sequential(*[Blk(8, 8) for _ in range(10)], nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randn(32, 1)
for _ in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% sigmoids chosen by a dict
import torch
import torch.nn as nn
import torch.nn.functional as F

ACT = {"relu": nn.ReLU, "sig": nn.Sigmoid}  #! ran 15


def mlp(sizes, act="sig"):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), ACT[act]()]  #! read 15
    return nn.Sequential(*layers[:-1])


net = mlp([2] + [32] * 10 + [2])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 2), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% small init deep
import torch
import torch.nn as nn
torch.manual_seed(0)
layers = []
for _ in range(8):
    layer = nn.Linear(16, 16)
    nn.init.normal_(layer.weight, std=0.01)  #! ran 15
    layers += [layer, nn.ReLU()]
net = nn.Sequential(*layers, nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 16), torch.randint(2, (64,))
for _ in range(20):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
