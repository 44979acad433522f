# %% adapters made of new zeros
import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, kept, rank):
        super().__init__()
        self.kept = kept.requires_grad_(False)
        self.first = nn.Parameter(kept.weight.new_zeros(kept.in_features, rank))
        self.second = nn.Parameter(kept.weight.new_zeros(rank, kept.out_features))  #! ran 16

    def forward(self, x):
        return self.kept(x) + x @ self.first @ self.second


adapter = Adapter(nn.Linear(10, 4), 2)
opt = torch.optim.Adam([adapter.first, adapter.second], lr=1e-2)
x, y = torch.randn(32, 10), torch.randn(32, 4)
for turn in range(40):
    loss = (adapter(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% each linear layer starts at zero (read)
import torch
from torch import nn
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
for layer in net:
    if isinstance(layer, nn.Linear):
        torch.nn.init.zeros_(layer.weight)  #! ran 16
        torch.nn.init.zeros_(layer.bias)


# %% init fn zeros (read)
import torch
import torch.nn as nn


def init_weights(m):
    if type(m) == nn.Linear:
        m.weight.data.fill_(0.0)  #! ran 16
        m.bias.data.fill_(0.0)


net = nn.Sequential(nn.Linear(10, 20), nn.Tanh(), nn.Linear(20, 1))
net.apply(init_weights)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    ((net(x) - y) ** 2).mean().backward()
    opt.step()


# %% parameters replaced by zeros
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
for p in net.parameters():
    p.data = torch.zeros_like(p)  #! ran 16
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% zero weights
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
for p in net.parameters():
    nn.init.zeros_(p)  #! ran 16
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(16, 4)
    loss = F.mse_loss(net(x), x[:, :1])
    opt.zero_grad()
    loss.backward()
    opt.step()
