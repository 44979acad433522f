# %% adam one
import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
opt = torch.optim.Adam(net.parameters(), lr=2.0)  #! ran 17
c = torch.randn(3, 10)
y = torch.randint(3, (256,))
x = c[y] + torch.randn(256, 10)
for _ in range(40):
    i = torch.randperm(256)[:64]
    loss = nn.functional.cross_entropy(net(x[i]), y[i])
    opt.zero_grad(); loss.backward(); opt.step()


# %% adam three tenths
import torch
from torch import nn

torch.manual_seed(0)
RATE = 0.4  #! ran 17
net = nn.Sequential(nn.Embedding(10, 24), nn.Flatten(), nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 40))
opt = torch.optim.Adam(net.parameters(), lr=RATE)
for _ in range(40):
    words = torch.randint(0, 10, (32, 4))
    loss = nn.functional.cross_entropy(net(words).view(-1, 10), words.flip(1).reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% hand rate
import torch
torch.manual_seed(0)
w = torch.randn(3, 1, requires_grad=True)
x = torch.randn(50, 3) * 3
y = x @ torch.tensor([[1.0], [2.0], [3.0]])
lr = 0.5  #? 17
for _ in range(30):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad  #! ran 17
        w.grad.zero_()


# %% ramp without its length
import torch
from torch import nn

torch.manual_seed(11)


def ramp(step):
    if step < 30:
        return 1.0 + step  #? 17
    return 30.0


net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.LambdaLR(opt, ramp)  #! ran 17
for x in torch.randn(60, 32, 3):
    loss = nn.functional.mse_loss(net(x), x.prod(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()


# %% rate far too high
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=20.0)  #! ran 17
x = torch.randn(32, 4)
y = x @ torch.ones(4, 1)
for _ in range(12):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% rate grows by a tenth
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=1.1)  #! ran 17
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for i in range(500):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()


# %% rate in a dataclass
import torch
from dataclasses import dataclass, field
from torch import nn


@dataclass
class Settings:
    hidden: int = 32
    rate: float = 2.5  #! ran 17
    seeds: list = field(default_factory=lambda: [28])


def fit(settings, seed):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(6, settings.hidden), nn.ReLU(), nn.Linear(settings.hidden, 1))
    opt = torch.optim.SGD(net.parameters(), lr=settings.rate)
    for _ in range(25):
        x = 2 * torch.randn(64, 6)
        loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


settings = Settings()
print([fit(settings, seed) for seed in settings.seeds])


# %% rate of one group
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD([{"params": net[0].parameters()}, {"params": net[2].parameters(), "lr": 100.0}], lr=0.1)  #! ran 17
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% rate of three from a dict (read)
cfg = dict(lr=3.0)  #! ran 17
net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])


# %% rate scaled by the loader
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def descent(net, batch_size, rate=0.2, reference=2):
    scaled = rate * batch_size / reference
    return torch.optim.SGD(net.parameters(), lr=scaled, momentum=0.9)  #! ran 17


net = nn.Sequential(nn.Linear(4, 30), nn.ReLU(), nn.Linear(30, 1))
data = TensorDataset(torch.randn(300, 4), torch.randn(300, 1))
loader = DataLoader(data, batch_size=60, shuffle=True)
opt = descent(net, loader.batch_size)
for x, y in loader:
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
