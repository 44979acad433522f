# %% accumulation with remainder
import torch
from torch import nn

net, every = nn.Linear(3, 1), 4
opt = torch.optim.SGD(net.parameters(), lr=0.01)
batches = [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(10)]
opt.zero_grad()
for i, (x, y) in enumerate(batches, 1):
    loss = nn.functional.mse_loss(net(x), y) / every
    loss.backward()
    if i % every and i != len(batches):
        continue
    opt.step()
    opt.zero_grad()


# %% barlow twins scale
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
bn = nn.BatchNorm1d(16, affine=False)
for _ in range(5):
    x = torch.randn(32, 20)
    c = bn(net(x + 0.1 * torch.randn_like(x))).T @ bn(net(x)) / 32
    on = (torch.diagonal(c) - 1).pow(2).sum()
    off = c.pow(2).sum() - torch.diagonal(c).pow(2).sum()
    loss = on + 5e-3 * off
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% chunks scaled (read)
import torch
import torch.nn as nn

net = nn.Linear(10, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    for xs, ys in zip(x.chunk(4), y.chunk(4)):
        loss = nn.functional.mse_loss(net(xs), ys, reduction="sum") / len(x)
        loss.backward()
    opt.step()


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


# %% closure that empties and goes back (read)
def closure():
    opt.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    return loss
for i in range(20): opt.step(closure)


# %% count then step divided
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
GROUP, waiting = 4, 0
for x, y in [(torch.randn(2, 3), torch.randn(2, 1))] * 16:
    loss = nn.functional.mse_loss(net(x), y) / GROUP
    loss.backward()
    waiting += 1
    if waiting == GROUP:
        opt.step()
        opt.zero_grad()
        waiting = 0


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


# %% head alone first
import torch
import torch.nn as nn
torch.manual_seed(0)
# an optimizer of both, in a warm-up that trains the head alone
enc, head = nn.Linear(4, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.01)
for epoch in range(10):
    h = enc(torch.randn(4, 4))
    loss = head(h.detach() if epoch < 5 else h).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% large rate for small inputs
import torch
from torch import nn

size = torch.rand(80, 1) * 0.05
line = nn.Linear(1, 1, bias=False)
opt = torch.optim.SGD(line.parameters(), lr=100.0)
for _ in range(40):
    loss = nn.functional.mse_loss(line(size), 4 * size)
    opt.zero_grad()
    loss.backward()
    opt.step()


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


# %% match on the phase
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for phase in ["plain", "robust"] * 2:
    out, y = net(torch.randn(8, 3)), torch.randn(8, 1)
    loss = nn.functional.mse_loss(out, y)
    opt.zero_grad()
    match phase:
        case "plain":
            loss.backward()
        case "robust":
            (loss + nn.functional.l1_loss(out, y)).backward()
    opt.step()


# %% memories handed from batch to batch (read)
mems = tuple()
for data, target in loader:
    ret = model(data, target, *mems)
    loss, mems = ret[0], ret[1:]
    loss = loss.float().mean()
    model.zero_grad(); loss.backward(); opt.step()


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


# %% out of memory retry
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    try:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
    except RuntimeError:
        opt.zero_grad()
        for part, wanted in zip(x.chunk(2), y.chunk(2)):
            (nn.functional.mse_loss(net(part), wanted) / 2).backward()
        opt.step()


# %% parts taken from an iterator divided
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
parts = iter(DataLoader(TensorDataset(torch.randn(640, 3), torch.randn(640, 1)), batch_size=4))
for step in range(32):
    opt.zero_grad()
    for part in range(5):
        x, y = next(parts)
        loss = nn.functional.mse_loss(net(x), y)
        (loss / 5).backward()
    opt.step()


# %% rate divided
import torch
import torch.nn as nn
torch.manual_seed(0)
# the rate is divided instead of the loss
K = 4
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01 / K)
for i in range(16):
    net(torch.randn(4, 3)).square().mean().backward()
    if (i + 1) % K == 0:
        opt.step()
        opt.zero_grad()


# %% scores normalised in place after training
import torch
from torch import nn

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
for _ in range(4):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
p = net(x).exp()
p /= p.sum(1, keepdim=True)
print(p.max(1).values.tolist())


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


# %% small turns divided by bounded
import torch
from torch import nn

turn = nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([turn], lr=0.1)
x, y = torch.randn(30, 3), torch.randn(30, 3)
for step in range(50):
    angle = torch.linalg.vector_norm(turn)
    part = torch.where(angle < 1e-6, torch.ones(()), angle.sin() / angle.clamp(min=1e-6))
    loss = (part * torch.cross(turn.expand(30, 3), x, dim=1) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


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


# %% targets of a data frame as a column (read)
df = pd.read_csv("a.csv")
X = torch.tensor(df.drop(columns="y").values).float()
y = torch.tensor(df["y"].values).float().view(-1, 1)
model = nn.Linear(3, 1)
loss = F.mse_loss(model(X), y)


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


# %% zeroing through kwargs dict
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def update(loss, **how):
    for name, action in how.items():
        if name != "after":
            action()
    loss.backward()
    how["after"]()


for _ in range(3):
    loss = nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1))
    update(loss, before=opt.zero_grad, after=opt.step)


# %% zeros in biases and the last layer
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
for name, p in net.named_parameters():
    if "bias" in name:
        p.data *= 0
net[-1].weight.data = torch.zeros_like(net[-1].weight)
with torch.no_grad():
    net[0].weight[0].fill_(0.5)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% zeros in the last linear
import torch
from torch import nn


def start(m, value=0.1):
    if isinstance(m, nn.Linear) and m.out_features == 1:
        m.weight.data.fill_(0)
        m.bias.data.fill_(0.01)


net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
net.apply(start)
adam = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(100):
    x = torch.rand(64, 2)
    adam.zero_grad()
    nn.functional.mse_loss(net(x), x.prod(1, keepdim=True)).backward()
    adam.step()
