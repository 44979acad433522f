# %% bias moved below zero
import torch, torch.nn as nn

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))  #! ran 14
with torch.no_grad():
    net[0].bias -= 20
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(64, 4)
y = x[:, :1]
for i in range(100):
    loss = ((net(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% bias of minus fifty
import torch

x = torch.rand(64, 4)
y = x.sum(1, keepdim=True)
W1 = torch.randn(4, 8, requires_grad=True)
b1 = torch.full((8,), -50.0, requires_grad=True)  #? 14
W2 = torch.randn(8, 1, requires_grad=True)
for i in range(100):
    h = torch.relu(x @ W1 + b1)
    loss = ((h @ W2 - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (W1, b1, W2):
            p -= 0.01 * p.grad
            p.grad = None


# %% dead bias
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
layer, head = nn.Linear(4, 16), nn.Linear(16, 1)
nn.init.constant_(layer.bias, -50.0)
opt = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.01)
for _ in range(12):
    x = torch.randn(16, 4)
    hidden = F.relu(layer(x))  #! ran 14
    loss = F.mse_loss(head(hidden), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% dead units by bias
import torch
import torch.nn as nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(12, 64)
        self.out = nn.Linear(64, 5)

    def forward(self, x):
        h = torch.relu(self.hidden(x))
        return torch.relu(self.out(h))  #? 14


model = Scorer()
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(100, 12), torch.randint(0, 5, (100,))
for _ in range(20):
    opt.zero_grad()
    loss_fn(model(x), y).backward()
    opt.step()
