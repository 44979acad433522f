# %% buffer row overwritten (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.tensor(0.5, requires_grad=True)
track = torch.zeros(6)
track[0] = 1.0
for i in range(5):
    track[i + 1] = (track[i] * w).tanh()  #! 1
track[-1].backward()


# %% gate clamped after use (stops)
import torch
from torch import nn


class Cell(nn.Module):
    """A hand-made recurrent cell that writes its gates into one buffer."""

    def __init__(self, n):
        super().__init__()
        self.gate, self.new = nn.Linear(2 * n, n), nn.Linear(2 * n, n)

    def forward(self, x, h):
        both = torch.cat([x, h], dim=1)
        z = torch.sigmoid(self.gate(both))
        n = torch.tanh(self.new(both))
        out = z * h + (1 - z) * n
        z.clamp_(0.05, 0.95)  #! 1
        return out, z


torch.manual_seed(0)
cell, head = Cell(8), nn.Linear(8, 1)
opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], 1e-3)
for step in range(20):
    seq, y = torch.randn(12, 16, 8), torch.randn(16, 1)
    h, gates = torch.zeros(16, 8), []
    for x in seq:
        h, z = cell(x, h)
        gates.append(z.mean().item())
    loss = (head(h) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% inplace relu on tanh (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 32)
        self.b = nn.Linear(32, 1)

    def forward(self, x):
        h = torch.tanh(self.a(x))
        F.relu_(h)  #! 1
        return self.b(h)


model = Gate()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x, y = torch.randn(64, 8), torch.randn(64, 1)
for epoch in range(20):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()


# %% judge moves before the player (stops)
import torch
from torch import nn

player, judge = nn.Linear(4, 2), nn.Linear(6, 1)
plays = torch.optim.Adam(player.parameters(), lr=1e-3)
judges = torch.optim.Adam(judge.parameters(), lr=1e-3)
for turn in range(50):
    state, move, score = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1)
    wrong = (judge(torch.cat([state, move], 1)) - score).pow(2).mean()
    worse = -judge(torch.cat([state, player(state).tanh()], 1)).mean()
    for opt, loss in ((judges, wrong), (plays, worse)):
        opt.zero_grad()
        loss.backward()
        opt.step()  #! 1


# %% mask object writes into softmax (stops)
import torch
from torch import nn


class Masking:
    def __init__(self, share):
        self.share = share

    def __call__(self, scores):
        kept = (torch.rand(scores.shape[0]) > self.share).float()
        scores *= kept[:, None]  #! 1
        return scores


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = nn.Linear(8, 8)
        self.mask = Masking(0.2)

    def forward(self, x):
        weights = (self.keys(x) @ x.T).softmax(-1)
        if self.training:
            weights = self.mask(weights)
        return weights @ x


net = Attention()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(12, 8)
for _ in range(4):
    loss = (net(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% rnn buffer written in place (stops)
import torch
import torch.nn as nn


class Recurrent(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.eye(n) * 0.5)

    def forward(self, x):
        steps, n = x.shape
        h = torch.zeros(steps + 1, n)
        for t in range(steps):
            h[t + 1] = torch.tanh(x[t] + h[t] @ self.w)  #! 1
        return h[-1]


Recurrent(3)(torch.randn(4, 3)).sum().backward()


# %% saved result scaled (stops)
import torch


class Softsign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = x / (1 + x.abs())
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, grad):
        (s,) = ctx.saved_tensors
        return grad * (1 - s.abs()) ** 2


def layer(x, w, scale):
    s = Softsign.apply(x @ w)
    s *= scale  #! ran 1
    return s


torch.manual_seed(12)
w1 = torch.randn(4, 6, requires_grad=True)
w2 = torch.randn(6, 1, requires_grad=True)
opt = torch.optim.SGD([w1, w2], lr=0.1)
x, y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(3):
    opt.zero_grad()
    loss = (layer(x, w1, 1.5) @ w2 - y).square().mean()
    loss.backward()
    opt.step()


# %% unrolled scan buffer (stops)
import torch


def scan(a, b, x0):
    """x[t] = a[t] * x[t - 1] + b[t]"""
    steps = a.shape[0]
    states = torch.empty(steps + 1, *x0.shape)
    states[0] = x0
    for t in range(steps):
        states[t + 1] = a[t] * states[t] + b[t]  #! 1
    return states[1:]


log_decay = torch.zeros(16, requires_grad=True)
inputs = torch.randn(50, 16)
out = scan(torch.sigmoid(log_decay).expand(50, 16), inputs, torch.zeros(16))
out.pow(2).mean().backward()


# %% mixed tokens added to what a view of them needs (stops)
import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, n=16):
        super().__init__()
        self.embed, self.token, self.head = nn.Linear(4, n), nn.Conv1d(n, n, 3, padding=1), nn.Linear(n, n)

    def forward(self, x):
        x = self.embed(x)
        x += self.token(x.permute(0, 2, 1)).permute(0, 2, 1)  #! 1
        return self.head(x).mean(dim=1)


Mixer()(torch.randn(3, 10, 4)).square().mean().backward()
