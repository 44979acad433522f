# %% argparse digits softmax (read)
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def build(hidden, classes):
    layers = [nn.Flatten(), nn.Linear(784, hidden), nn.ReLU()]
    layers.append(nn.Linear(hidden, classes))
    layers.append(nn.Softmax(dim=-1))  #! 25
    return nn.Sequential(*layers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    net = build(args.hidden, 10)
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr)
    for _ in range(args.epochs):
        for images, labels in get_loader():
            optimizer.zero_grad()
            F.cross_entropy(net(images), labels).backward()
            optimizer.step()


if __name__ == "__main__":
    main()


# %% exponentials divided by a method
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 3)

    def forward(self, x):
        b = self.l(x).exp()
        return b.div(b.sum(1, keepdim=True))  #! read 25


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 3, (32,))
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% nll of probabilities
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1))  #! ran 25
crit = nn.NLLLoss()
opt = torch.optim.Adam(net.parameters())
for x, y in [(torch.randn(4, 2), torch.randint(0, 3, (4,)))] * 3:
    opt.zero_grad()
    crit(net(x), y).backward()
    opt.step()


# %% nll of scores
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(16, 3))
crit, opt = nn.NLLLoss(), torch.optim.SGD(net.parameters(), lr=0.5)
x, y = torch.randn(8, 1, 4, 4), torch.randint(3, (8,))
for _ in range(10):
    opt.zero_grad()
    loss = crit(net(x), y)  #! ran 25
    loss.backward()
    opt.step()


# %% policy cloned by cross entropy
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))  #! 25

    def forward(self, x):
        return self.layers(x)


torch.manual_seed(0)
policy = Policy()
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
x = torch.randn(12, 4)
with torch.no_grad():
    y = torch.distributions.Categorical(probs=policy(x)).sample()
for _ in range(4):
    loss = nn.functional.cross_entropy(policy(x), y)  #? 25
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% probabilities for others
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def chances(x):
    return torch.softmax(net(x), dim=-1)  #! 25


x, y = torch.randn(12, 4), torch.randint(0, 3, (12,))
for _ in range(4):
    loss = nn.functional.cross_entropy(chances(x), y)  #? 25
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print(chances(x).max().item())


# %% probabilities sharpened
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 3, (32,))
for _ in range(3):
    p = torch.softmax(net(x), 1)  #! read 25
    p = p / 0.5
    loss = F.cross_entropy(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% sigmoid layer bce logits
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(
    nn.Linear(4, 1),
    nn.Sigmoid(),  #! 25
)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
criterion = nn.BCEWithLogitsLoss()
for _ in range(4):
    loss = criterion(net(torch.randn(8, 4)), torch.ones(8, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% softmax in an ordered dict
import torch
import torch.nn as nn

from collections import OrderedDict

net = nn.Sequential(
    OrderedDict(
        [
            ("body", nn.Sequential(nn.Linear(4, 8), nn.ReLU())),
            ("fc", nn.Linear(8, 3)),
            ("prob", nn.Softmax(dim=1)),  #! 25
        ]
    )
)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 3, (32,))
crit = nn.CrossEntropyLoss()
for _ in range(3):
    loss = crit(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% softmax in forward
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return F.softmax(self.fc(x), dim=1)  #! 25


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    loss = F.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% softmax stacked
import torch
import torch.nn as nn
cell, head = nn.GRUCell(3, 8), nn.Linear(8, 4)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(6, 5, 3), torch.randint(4, (6, 5))
for _ in range(10):
    h, outs = torch.zeros(6, 8), []
    for t in range(5):
        h = cell(x[:, t], h)
        outs.append(torch.softmax(head(h), dim=-1))  #! 25
    probs = torch.stack(outs, dim=1)
    loss = nn.functional.cross_entropy(probs.reshape(-1, 4), y.reshape(-1))
    opt.zero_grad(); loss.backward(); opt.step()
