# %% ema of loss keeps graph (read)
import torch
import torch.nn as nn

model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
average = 0.0
for step in range(1000):
    x = torch.randn(32, 8)
    y = x.sum(dim=1, keepdim=True)
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average = 0.99 * average + 0.01 * loss  #! 10
    if step % 100 == 0:
        print(step, average)


# %% hook keeps outputs
import torch
from torch import nn

torch.manual_seed(18)
features = {}


def keep(module, args, output):
    features.setdefault("hidden", []).append(output)  #! ran 10


net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
net[1].register_forward_hook(keep)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(20):
    x, y = torch.randn(10, 6), torch.randint(2, (10,))
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(features["hidden"]))


# %% list of losses
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
history = []
for _ in range(8):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss)  #! 10


# %% losses of a validation in a list (read)
import torch.nn.functional as F
def evaluate(model, loader):
    model.eval()
    losses = []
    for x, y in loader:
        losses.append(F.cross_entropy(model(x), y))  #! 10 #? 12
    return sum(losses) / len(losses)


# %% losses of an object that is gone
import torch
from torch import nn


class Fit:
    def __init__(self, net):
        self.net, self.losses = net, []
        self.opt = torch.optim.SGD(net.parameters(), lr=0.05)

    def run(self, x, y, steps):
        for _ in range(steps):
            loss = nn.functional.mse_loss(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.losses.append(loss)  #! 10
        return self.losses


torch.manual_seed(0)
curve = Fit(nn.Linear(2, 1)).run(torch.randn(20, 2), torch.randn(20, 1), 15)
print(len(curve), curve[-1].item())


# %% meter of each epoch
import torch
import torch.nn as nn


def fit(net, opt):
    for _ in range(2):
        running = 0
        for _ in range(6):
            loss = net(torch.randn(8, 4)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss  #! 10
        print(running / 6)


net = nn.Linear(4, 1)
fit(net, torch.optim.SGD(net.parameters(), lr=0.01))


# %% moving mean from none
import torch
import torch.nn as nn

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
smooth = None
for _ in range(30):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    smooth = loss if smooth is None else 0.9 * smooth + 0.1 * loss  #! 10
print(smooth)


# %% outputs joined and thrown away
import torch
from torch import nn


class Fit:
    def __init__(self):
        self.net, self.seen = nn.Linear(5, 1), []
        self.opt = torch.optim.Adam(self.net.parameters(), lr=0.01)

    def step(self, x):
        score = self.net(x).flatten()
        self.seen.append((score, x[:, 0] > 0))  #! ran 10
        loss = nn.functional.binary_cross_entropy_with_logits(score, (x[:, 0] > 0).float())
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    def summary(self):
        scores, labels = (torch.cat(parts) for parts in zip(*self.seen))
        self.seen.clear()
        return ((scores > 0) == labels).float().mean().item()


torch.manual_seed(14)
fit = Fit()
for x in torch.randn(20, 8, 5):
    fit.step(x)
print(fit.summary())


# %% record with graphs
import torch


class Record:
    def __init__(self):
        self.entries = []

    def keep(self, step, **values):
        self.entries.append((step, values))  #! ran 10


w = torch.ones(3, requires_grad=True)
record = Record()
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(6):
    out = w * torch.randn(3)
    loss = out.square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    record.keep(step, out=out)


# %% validation outputs joined
import torch
from torch import nn

torch.manual_seed(15)
net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.2), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
data, held_out = torch.randn(5, 32, 3), torch.randn(40, 3)


def error():
    net.eval()
    answers = []
    for part in held_out.split(8):
        answer = net(part).squeeze(-1)  #! ran 12
        answers.append(answer)  #! read 10
    return (torch.cat(answers) - held_out.sum(1)).abs().mean()


for x in data:
    net.train()
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(error().item())


# %% total of a loss that is only named (read)
total = 0
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss  #! read 10
