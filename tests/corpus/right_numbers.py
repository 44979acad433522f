# %% clip or not two arms
import torch
import torch.nn as nn


def fit(model, loader, opt, sam=False):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        if sam:
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        else:
            loss.backward()
            opt.step()


model = nn.Linear(4, 1)
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
fit(model, data, torch.optim.SGD(model.parameters(), lr=0.05))


# %% distance guarded by a sum
import torch
from torch import nn

net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x, partner, same = torch.randn(64, 5), torch.randn(64, 5), torch.rand(64) > 0.5
for step in range(100):
    gap = net(x) - net(partner)
    squared = (gap**2).sum(1)
    distance = torch.where(squared > 0, torch.sqrt(squared + 1e-9), 0.5 * squared)
    loss = torch.where(same, distance, (1 - distance).clamp(min=0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% evaluation with numpy
import numpy as np
import torch


@torch.no_grad()
def predict(model, loader, device):
    model.eval()
    outputs, targets = [], []
    for x, y in loader:
        logits = model(x.to(device))
        outputs.append(torch.softmax(logits, dim=1).cpu().numpy())
        targets.append(y.numpy())
    return np.concatenate(outputs), np.concatenate(targets)


def accuracy(model, loader, device):
    probabilities, labels = predict(model, loader, device)
    return (probabilities.argmax(axis=1) == labels).mean()


# %% flatten from the first axis
import torch
from torch import nn

x = torch.rand(256, 4)
y = x[:, 0] + x[:, 1] ** 2
net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1), nn.Flatten(0))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(100):
    loss = nn.functional.mse_loss(torch.log1p(net(x).exp()), torch.log1p(y.exp()))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% marks of clouds of points
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for clouds in torch.randn(10, 40, 12, 2):
    sizes = clouds.norm(dim=2, keepdim=True)
    marks = net(torch.cat([clouds, sizes], dim=-1)).mean(dim=1)
    opt.zero_grad()
    nn.functional.mse_loss(marks, sizes.mean(dim=1)).backward()
    opt.step()


# %% mmd
import torch
torch.manual_seed(0)
g = torch.nn.Linear(1, 1)
opt = torch.optim.Adam(g.parameters(), lr=0.05)
for _ in range(30):
    a, b = g(torch.randn(40, 1)).squeeze(1), torch.randn(40) * 2 + 1
    kab = (-(a[:, None] - b).abs()).exp()
    kaa = (-(a[:, None] - a).abs()).exp()
    loss = kaa.mean() - 2 * kab.mean()
    opt.zero_grad(); loss.backward(); opt.step()


# %% ppo
import torch
import torch.nn as nn
torch.manual_seed(0)
pi, v = nn.Linear(4, 3), nn.Linear(4, 1)
opt = torch.optim.Adam([*pi.parameters(), *v.parameters()], lr=1e-2)
for _ in range(10):
    s = torch.randn(32, 4)
    with torch.no_grad():
        dist = torch.distributions.Categorical(logits=pi(s))
        a = dist.sample()
        old = dist.log_prob(a)
        returns = (a == 1).float()
        adv = returns - v(s).squeeze(-1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(3):
        dist = torch.distributions.Categorical(logits=pi(s))
        ratio = (dist.log_prob(a) - old).exp()
        pg = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
        vf = (v(s).squeeze(-1) - returns).pow(2).mean()
        loss = pg + 0.5 * vf - 0.01 * dist.entropy().mean()
        opt.zero_grad(); loss.backward()
        nn.utils.clip_grad_norm_(pi.parameters(), 0.5)
        opt.step()


# %% pushed apart
import torch
from torch import nn

torch.manual_seed(7)
net = nn.Linear(6, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.02)
a, near, far = torch.randn(30, 6), torch.randn(30, 6), torch.randn(30, 6)
for _ in range(10):
    one, two, three = net(a), net(near), net(far)
    apart = -(one - three).square().sum(1)
    loss = (apart + 2 * (one - two).square().sum(1)).clamp(min=-4).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% relu outputs kept above zero
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
x = torch.randn(64, 4)
z = net(x)
zn = (z - z.mean(0)) / (z.std(0) + 1e-5)
share = z / z.sum(1, keepdim=True).clamp(min=1e-6)
length = torch.sqrt((z**2).sum(1) + 1e-8)
y = net[0](x)
unit = y / y.norm(dim=1, keepdim=True)
(zn.pow(4).mean() + share.mean() + length.mean() + unit.mean()).backward()


# %% rows of fixed weights
import math

import torch
from torch import nn

net = nn.Linear(6, 2)
spread = torch.tensor([0.5, -1.0])
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(50, 6), torch.randn(50, 2)
for epoch in range(100):
    out = net(x)
    whole = 0.0
    for width, part in zip(spread, [(out[:, 0] - y[:, 0]).abs().mean(), ((out[:, 1] - y[:, 1]) ** 2).mean()]):
        whole = whole + part * math.exp(-width.item())
    optimizer.zero_grad()
    whole.backward()
    optimizer.step()


# %% sampled action with log prob
import torch
from torch import nn

pi = nn.Linear(4, 3)
opt = torch.optim.Adam(pi.parameters())
for s, r in [(torch.randn(6, 4), torch.randn(6, 3))] * 2:
    logp = torch.log_softmax(pi(s), 1)
    a = torch.multinomial(logp.exp(), 1)
    loss = -(logp.gather(1, a) * r.gather(1, a)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% soft histogram of predictions
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
centres = torch.linspace(-2, 2, 20).unsqueeze(1)
wanted = torch.rand(20)
adam = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(50):
    guesses = net(torch.randn(64, 3)).squeeze(-1)
    apart = centres - guesses
    loss = (torch.exp(-(apart**2)).mean(1) - wanted).abs().mean()
    adam.zero_grad()
    loss.backward()
    adam.step()


# %% supcon
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
net = nn.Linear(8, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    x, y = torch.randn(16, 8), torch.randint(3, (16,))
    z = F.normalize(net(x), dim=1)
    mask = (y.view(-1, 1) == y).float() - torch.eye(16)
    sim = z @ z.T / 0.1
    logp = sim - torch.logsumexp(sim - 1e9 * torch.eye(16), 1, keepdim=True)
    loss = -(mask * logp).sum() / mask.sum()
    opt.zero_grad(); loss.backward(); opt.step()


# %% vae
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
for _ in range(6):
    x = torch.rand(8, 6)
    mean, logvar = enc(x).chunk(2, 1)
    z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
    loss = F.binary_cross_entropy_with_logits(dec(z), x, reduction="sum")
    loss = loss - 0.5 * (1 + logvar - mean**2 - logvar.exp()).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% windows with a column
import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import nn

series = np.cos(np.arange(600) / 7.0)
pieces = sliding_window_view(series, 13)
past = torch.from_numpy(pieces[:, :-1].copy()).float()
following = torch.from_numpy(pieces[:, -1:].copy()).float()


def root_error(guess, wanted):
    return ((guess - wanted) ** 2).mean().sqrt()


net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(20):
    for at in torch.randperm(len(past)).split(50):
        optimizer.zero_grad()
        loss = root_error(net(past[at]), following[at])
        loss.backward()
        optimizer.step()


# %% written softmax only for reading
import torch
from torch import nn

net = nn.Linear(4, 3)
scores = net(torch.randn(5, 4))
e = scores.exp()
e /= e.sum(1, keepdim=True)
print(e.argmax(1))


# %% kernel of all pairs
import torch
from torch import nn


def kernel(a, b):
    difference = a.view(-1, 1) - b.view(-1)
    return torch.exp(-(difference**2) / 2).mean()


made = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(made.parameters(), lr=0.01)
for _ in range(3):
    fake, real = made(torch.randn(16, 1)), torch.randn(16)
    loss = kernel(fake, fake) - 2 * kernel(fake, real)
    opt.zero_grad()
    loss.backward()
    opt.step()
