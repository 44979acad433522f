# %% accuracy beside weight decay
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(50, 4), torch.randint(0, 3, (50,))
for epoch in range(10):
    net.train()
    hits = (net(x).argmax(dim=1) == y).float()  #! 21
    loss = 1 - hits.mean() + 1e-4 * sum(w.pow(2).sum() for w in net.parameters())
    opt.zero_grad()
    loss.backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        print((net(x).argmax(1) == y).float().mean().item())


# %% accuracy trained (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 3)
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
guess = net(x).argmax(dim=1)  #! 21
loss = (guess != y).float().mean()
loss.backward()


# %% bernoulli
import torch
import torch.nn as nn
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(64, 4)
for _ in range(10):
    p = torch.sigmoid(net(x))
    z = torch.bernoulli(p)  #! read 21
    loss = (z.sum(1) - 2).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()


# %% count of open valves (read)
import torch
from torch import nn


class Valves(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.raw = nn.Parameter(torch.zeros(inputs))
        self.line = nn.Linear(inputs, 1)

    def open(self):
        return self.raw.sigmoid()

    def forward(self, x):
        return self.line(x * self.open())


valves = Valves(12)
opt = torch.optim.Adam(valves.parameters(), lr=0.01)
x, y = torch.randn(200, 12), torch.randn(200, 1)
for turn in range(300):
    fit = (valves(x) - y).pow(2).mean()
    costs = 0.2 * (valves.open() > 0.5).float().sum()  #! 21
    loss = fit + costs
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% fabric graph net threshold (read)
import torch
from lightning.fabric import Fabric
from torch_geometric.nn import GCNConv


class GCN(torch.nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.conv1 = GCNConv(features, hidden)
        self.conv2 = GCNConv(hidden, classes)

    def forward(self, data):
        x = self.conv1(data.x, data.edge_index).relu()
        return self.conv2(x, data.edge_index).squeeze(-1)


fabric = Fabric(accelerator="auto")
model, optimizer = fabric.setup(model := GCN(16, 32, 1), torch.optim.Adam(model.parameters(), lr=0.01))
for epoch in range(200):
    optimizer.zero_grad()
    logits = model(graph)[graph.train_mask]
    hard = (logits > 0).float()  #? 21
    loss = ((hard - graph.y[graph.train_mask]) ** 2).mean()
    fabric.backward(loss)
    optimizer.step()


# %% long cast inside (stops)
import torch
from torch import nn

net = nn.Linear(4, 1)
table = torch.randn(10)
opt = torch.optim.Adam(net.parameters())
for x in [torch.rand(6, 4)] * 2:
    slot = net(x).clamp(0, 9).long()  #! 21
    loss = table[slot].mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% sampled action no logprob (stops)
import torch
from torch import nn

pi = nn.Linear(4, 3)
opt = torch.optim.Adam(pi.parameters())
for s, r in [(torch.randn(6, 4), torch.randn(6, 3))] * 2:
    a = torch.multinomial(torch.softmax(pi(s), 1), 1)  #! 21
    loss = -r.gather(1, a).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% where makes hard decisions (read)
for x, y in loader:
    hard = torch.where(model(x) > 0.5, 1.0, 0.0)  #! 21
    loss = F.binary_cross_entropy(hard, y)
    opt.zero_grad(); loss.backward(); opt.step()
