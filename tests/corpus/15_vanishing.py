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
        nn.init.normal_(part.weight, 0.0, 0.01)  #? 15


net = nn.Sequential(nn.Linear(5, 100), *[Step(100) for _ in range(9)], nn.Linear(100, 3))
net.apply(start)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(200, 5), torch.randint(0, 3, (200,))
for turn in range(100):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% deep sigmoids by default class
import torch
from torch import nn


def make_mlp(sizes, activation=nn.Sigmoid):  #? 15
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        layers.append(nn.Linear(n_in, n_out))
        layers.append(activation())  #! ran 15
    return nn.Sequential(*layers[:-1])


model = make_mlp([10, 64, 64, 64, 64, 64, 64, 64, 1])
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    opt.zero_grad()
    loss = (model(torch.randn(8, 10)) - torch.randn(8, 1)).pow(2).mean()
    loss.backward()
    opt.step()


# %% eight sigmoids
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
layers = []
for _ in range(8):
    layers += [nn.Linear(16, 16), nn.Sigmoid()]  #! ran 15
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
        nn.init.orthogonal_(self.memory.weight_hh_l0, 0.4)  #? 15
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
cell = nn.RNN(1, 16, batch_first=True)  #? 15
head = nn.Linear(16, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
for _ in range(10):
    x = torch.randn(8, 100, 1)
    h, _h = cell(x)
    loss = (head(h[:, -1]) - x[:, 0]).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()


# %% sigmoids by place
import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, n=10, d=16):
        super().__init__()
        self.inp = nn.Linear(2, d)
        self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(n)])
        self.out = nn.Linear(d, 1)
        self.act = nn.Sigmoid()  #? 15

    def forward(self, x):
        h = self.act(self.inp(x))
        for i in range(len(self.layers)):
            h = self.act(self.layers[i](h))  #! ran 15
        return self.out(h)


net = Deep()
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    loss = (net(torch.randn(5, 2)) - 1).pow(2).mean()
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
    nn.init.normal_(layer.weight, std=0.01)  #? 15
    layers += [layer, nn.ReLU()]
net = nn.Sequential(*layers, nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 16), torch.randint(2, (64,))
for _ in range(20):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
