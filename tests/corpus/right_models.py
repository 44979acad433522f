# %% coupling flow
import math
import torch
from torch import nn
torch.manual_seed(11)
class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip, self.net = flip, nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 2))
        nn.init.zeros_(self.net[-1].weight); nn.init.zeros_(self.net[-1].bias)
    def forward(self, x):
        a, b = x.chunk(2, 1)
        a, b = (b, a) if self.flip else (a, b)
        s, t = self.net(a).chunk(2, 1)
        s = s.tanh()
        b = b * s.exp() + t
        return torch.cat((b, a) if self.flip else (a, b), 1), s.squeeze(1)
flow = nn.ModuleList(Coupling(i % 2) for i in range(4))
opt = torch.optim.Adam(flow.parameters(), lr=5e-3)
for x in torch.randn(25, 64, 2):
    z, logdet = torch.stack([x[:, 0], x[:, 0] ** 2 + 0.3 * x[:, 1]], 1), torch.zeros(64)
    for layer in flow:
        z, s = layer(z)
        logdet = logdet + s
    loss = (0.5 * z.square().sum(1) + math.log(2 * math.pi) - logdet).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% head in the optimizer before it joins
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 20), nn.Tanh())
        self.head = nn.Linear(20, 7)

    def forward(self, x):
        return self.head(self.trunk(x))


net = Net()
head = nn.Linear(20, 2)
optimizer = torch.optim.Adam([*net.trunk.parameters(), *head.parameters()], lr=1e-3)
net.head = head
x, y = torch.randn(50, 5), torch.randint(0, 2, (50,))
for _ in range(20):
    net.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()


# %% layers handed in
import torch
from torch import nn


class Chain(nn.Module):
    def __init__(self, *links):
        super().__init__()
        self.links = list(links)

    def forward(self, x):
        for link in self.links:
            x = link(x)
        return x


net = Chain(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
print(net(torch.randn(3, 2)))


# %% layers listed with own parameters method
import itertools

import torch
from torch import nn


class Ensemble(nn.Module):
    def __init__(self):
        super().__init__()
        self.members = [nn.Linear(3, 1) for _ in range(4)]

    def parameters(self, recurse=True):
        return itertools.chain(*(member.parameters() for member in self.members))

    def forward(self, x):
        return torch.stack([member(x) for member in self.members]).mean(0)


net = Ensemble()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    opt.zero_grad()
    nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1)).backward()
    opt.step()


# %% mixture of experts
import torch
from torch import nn
torch.manual_seed(12)
class MoE(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.gate, self.experts = nn.Linear(d, k), nn.ModuleList(nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, d)) for _ in range(k))
    def forward(self, x):
        p = self.gate(x).softmax(1)
        top, which = p.topk(1, 1)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows = (which[:, 0] == e).nonzero()[:, 0]
            if len(rows):
                out = out.index_add(0, rows, top[rows] * expert(x[rows]))
        share = nn.functional.one_hot(which[:, 0], p.shape[1]).float().mean(0)
        return x + out, (share * p.mean(0)).sum() * p.shape[1]
net = MoE(8, 4)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for x in torch.randn(20, 48, 8):
    y, balance = net(x)
    loss = nn.functional.mse_loss(y, x.flip(1)) + 0.01 * balance
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% mixture weights dropped after the step
import functools
from functools import cached_property

import torch
from torch import nn


@functools.lru_cache(maxsize=None)
def grid():
    return torch.linspace(-1, 1, 5)


class Mixture(nn.Module):
    def __init__(self, parts=5):
        super().__init__()
        self.scores = nn.Parameter(torch.randn(parts))
        self.centres = nn.Parameter(torch.randn(parts))

    @cached_property
    def shares(self):
        return torch.softmax(self.scores, dim=0)

    def forward(self, x):
        return torch.exp(-((x[:, None] - self.centres - grid()) ** 2)) @ self.shares


mixture = Mixture()
opt = torch.optim.Adam(mixture.parameters(), lr=0.02)
for _ in range(100):
    density = mixture(torch.randn(64))
    loss = -torch.log(density + 1e-6).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    del mixture.shares


# %% multi task with dynamic heads
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(4, 8)
        for task, width in tasks.items():
            self.add_module(name=f"head_{task}", module=nn.Linear(8, width))
        self.tasks = list(tasks)

    def forward(self, x):
        h = torch.relu(self.trunk(x))
        return {task: getattr(self, f"head_{task}")(h) for task in self.tasks}


net = Net({"a": 2, "b": 3})
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(3):
    out = net(torch.randn(8, 4))
    loss = sum(nn.functional.cross_entropy(out[t], torch.randint(0, 2, (8,))) for t in out)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% simsiam
import torch
from torch import nn
torch.manual_seed(21)
class SimSiam(nn.Module):
    def __init__(self):
        super().__init__()
        self.f, self.h = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8)), nn.Linear(8, 8)
    def forward(self, a, b):
        za, zb = self.f(a), self.f(b)
        cos = nn.functional.cosine_similarity
        return -(cos(self.h(za), zb.detach()).mean() + cos(self.h(zb), za.detach()).mean()) / 2
net = SimSiam()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for x in torch.randn(15, 32, 8):
    loss = net(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% transformer
import torch
import torch.nn as nn
torch.manual_seed(0)
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.pos = nn.Embedding(20, 16), nn.Parameter(torch.zeros(12, 16))
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(16, 20, bias=False)
        self.out.weight = self.emb.weight
    def forward(self, t):
        mask = nn.Transformer.generate_square_subsequent_mask(t.shape[1])
        return self.out(self.body(self.emb(t) + self.pos, mask=mask, is_causal=True))
net = LM()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for _ in range(10):
    t = torch.randint(20, (8, 13))
    loss = nn.functional.cross_entropy(net(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten())
    opt.zero_grad(set_to_none=True); loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
net.eval()
with torch.inference_mode():
    print(net(torch.randint(20, (1, 12)))[0, -1].argmax().item())


# %% layers in a list and in a Sequential
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)]
        self.body = nn.Sequential(*self.layers)

    def forward(self, x):
        return self.body(x)


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(16, 3)
for _ in range(20):
    opt.zero_grad()
    (net(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    opt.step()
