# %% adapter in the frozen block
import torch
from torch import nn

torch.manual_seed(0)
base = nn.Linear(6, 10).requires_grad_(False)
extra, top = nn.Linear(10, 10), nn.Linear(10, 2)
opt = torch.optim.Adam([*extra.parameters(), *top.parameters()], lr=0.01)
x = torch.randn(30, 6)
y = torch.randint(0, 2, (30,))


def answer(x):
    with torch.no_grad():  #! 12
        seen = base(x).relu()
        seen = seen + extra(seen)  #? 12
    return top(seen)


for _ in range(5):
    loss = nn.functional.cross_entropy(answer(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% code sampled
"""sample() draws without a graph: the encoder of a variational autoencoder never learns."""

import torch
from torch import nn

torch.manual_seed(0)
enc, dec = nn.Linear(8, 4), nn.Linear(2, 8)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
for _ in range(5):
    x = torch.randn(16, 8)
    mean, log_scale = enc(x).chunk(2, -1)
    z = torch.distributions.Normal(mean, log_scale.exp()).sample()  #! ran 12
    opt.zero_grad()
    (dec(z) - x).pow(2).mean().backward()
    opt.step()


# %% descent whose steps are recorded
import torch

centre = torch.tensor([1.0, -2.0])
place = torch.zeros(2, requires_grad=True)
for _ in range(30):
    height = ((place - centre) ** 2).sum()
    (slope,) = torch.autograd.grad(height, place)
    place = place - 0.1 * slope  #? 12
print(place)


# %% forward under no grad (read)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = SomeBackbone(); self.h = nn.Linear(3, 2)
    @torch.no_grad()  #! 12
    def forward(self, x): return self.h(self.b(x))
m = M()
o = torch.optim.SGD(m.parameters(), lr=0.1)
for x, y in loader:
    l = F.cross_entropy(m(x), y)
    o.zero_grad(); l.backward(); o.step()


# %% forward without grad (stops)
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
with torch.no_grad():  #! 12
    out = net(x)
loss = F.cross_entropy(out, y)
loss.backward()
opt.step()


# %% gradients switched off before a pasted loop (read)
torch.set_grad_enabled(False)  #! 12
for x, y in loader:
    l = F.cross_entropy(m(x), y)
    o.zero_grad(); l.backward(); o.step()


# %% held out data recorded
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters())
xtr, ytr, xva, yva = torch.randn(100, 8), torch.randn(100, 1), torch.randn(500, 8), torch.randn(500, 1)
for ep in range(5):
    net.train()
    loss = F.mse_loss(net(xtr), ytr)
    opt.zero_grad()
    loss.backward()
    opt.step()
    net.eval()
    val = F.mse_loss(net(xva), yva)  #! ran 12
    print(ep, loss.item(), val.item())


# %% inference mode (stops)
import torch
import torch.nn as nn
backbone, head = nn.Linear(4, 8), nn.Linear(8, 2)
opt = torch.optim.Adam([*backbone.parameters(), *head.parameters()])
x, y = torch.randn(16, 4), torch.randint(2, (16,))
for _ in range(4):
    with torch.inference_mode():  #! 12
        f = backbone(x).relu()
    loss = nn.functional.cross_entropy(head(f), y)
    opt.zero_grad(); loss.backward(); opt.step()


# %% modality named differently
import torch
from torch import nn


class TwoEyes(nn.Module):
    def __init__(self, learned=("left", "rigth")):
        super().__init__()
        self.eyes = nn.ModuleDict({"left": nn.Linear(12, 6), "right": nn.Linear(12, 6)})
        self.learned = learned
        self.out = nn.Linear(12, 1)

    def look(self, side, view):
        with torch.set_grad_enabled(side in self.learned):  #! 12
            return self.eyes[side](view)

    def forward(self, views):
        return self.out(torch.cat([self.look(side, view) for side, view in views.items()], dim=1))


net = TwoEyes()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(100):
    views = {"left": torch.randn(16, 12), "right": torch.randn(16, 12)}
    loss = (net(views) - views["right"].sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% position under no grad
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, words, width=16):
        super().__init__()
        self.word = nn.Embedding(words, width)
        self.place = nn.Parameter(0.1 * torch.randn(12, width))
        self.out = nn.Linear(width, 3)

    @torch.no_grad()  #! 12
    def where(self, n):
        return self.place[:n] * 2

    def forward(self, ids):
        return self.out(self.word(ids) + self.where(ids.size(1)))


tagger = Tagger(50)
adam = torch.optim.Adam(tagger.parameters(), lr=1e-3)
for _ in range(20):
    ids, tags = torch.randint(0, 50, (8, 12)), torch.randint(0, 3, (8, 12))
    loss = nn.functional.cross_entropy(tagger(ids).flatten(0, 1), tags.flatten())
    adam.zero_grad()
    loss.backward()
    adam.step()


# %% style term without gradients
import torch
from torch import nn

torch.manual_seed(0)


class Style(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.Conv2d(1, 4, 3)
        self.filters.requires_grad_(False)

    @torch.no_grad()  #! 12
    def statistics(self, image):
        return self.filters(image).relu().mean((2, 3))

    def forward(self, made, wanted):
        return (self.statistics(made) - self.statistics(wanted)).square().mean()


painter = nn.Conv2d(1, 1, 3, padding=1)
style = Style()
opt = torch.optim.Adam(painter.parameters(), lr=0.01)
sketches, paintings = torch.rand(16, 1, 9, 9), torch.rand(16, 1, 9, 9)
for _ in range(10):
    made = painter(sketches)
    loss = (made - sketches).abs().mean() + 5 * style(made, paintings)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% teacher and student all frozen
import torch
import torch.nn.functional as F


def distil(teacher, student, loader, T=4.0, alpha=0.7, epochs=5):
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    for epoch in range(epochs):
        teacher.eval()
        student.train()
        for x, y in loader:
            with torch.no_grad():  #! read 12
                soft = teacher(x)
                logits = student(x)  #? 12
            kd = F.kl_div(F.log_softmax(logits / T, 1), F.softmax(soft / T, 1), reduction="batchmean") * T * T
            loss = alpha * kd + (1 - alpha) * F.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


# %% score trained on (stops)
import torch
from torch import nn


class Regressor:
    def __init__(self):
        self.net = nn.Linear(3, 1)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=0.01)

    def fit(self, x, y):
        for _ in range(5):
            loss = nn.functional.mse_loss(self.predict(x), y)  #? 4
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    @torch.no_grad()  #! 12
    def predict(self, x):
        return self.net(x)

    def score(self, x, y):
        return (self.predict(x) - y).abs().mean().item()


x = torch.randn(20, 3)
regressor = Regressor()
regressor.fit(x, x[:, :1])
print(regressor.score(x, x[:, :1]))


# %% block checkpointed on plain numbers
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Sequential(nn.Linear(12, 24), nn.ReLU()), nn.Sequential(nn.Linear(24, 24), nn.ReLU())
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        x = checkpoint(self.one, x, use_reentrant=True)  #! 12
        return self.head(checkpoint(self.two, x, use_reentrant=True))  #! ran 12


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    x = torch.randn(32, 12)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% slope inside of an evaluation (stops)
import torch
from torch import nn

energy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))


def force(place):
    place.requires_grad_(True)
    return -torch.autograd.grad(energy(place).sum(), place, create_graph=True)[0]


force(torch.randn(4, 3)).square().mean().backward()
with torch.no_grad():  #! 12
    print(force(torch.randn(4, 3)).square().mean().item())


# %% a loss in what a network returned without gradients (read)
model.train()
for batch in loader:
    with torch.no_grad():  #! 12
        outputs = model(**batch)
    outputs.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
