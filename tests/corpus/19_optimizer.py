# %% copy is optimized
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(8, 2)
best = copy.deepcopy(net)
opt = torch.optim.SGD(best.parameters(), lr=0.1)  #! 19
x, y = torch.randn(32, 8), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% decay groups forget the filters
import torch
import torch.nn.functional as F
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.Conv1d(1, 8, 5)
        self.norm = nn.BatchNorm1d(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.filters(x))).mean(2))


net = Small()
matrices = [p for p in net.parameters() if p.dim() == 2]  #? 19
vectors = [p for p in net.parameters() if p.dim() == 1]
opt = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}], lr=1e-3)  #! ran 19
for _ in range(50):
    x, y = torch.randn(16, 1, 40), torch.randint(0, 3, (16,))
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()


# %% experts in a list
import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.gate = nn.Linear(d, k)
        self.experts = [nn.Linear(d, 1) for _ in range(k)]  #! 19

    def forward(self, x):
        weights = self.gate(x).softmax(1)
        outs = torch.cat([expert(x) for expert in self.experts], dim=1)
        return (weights * outs).sum(1)


torch.manual_seed(32)
net = Mixture(4, 3)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for x in torch.randn(20, 32, 4):
    loss = nn.functional.mse_loss(net(x), x[:, 0] * x[:, 1])
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% first layer only
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net[0].parameters(), lr=0.1)  #! 19
x, y = torch.randn(32, 8), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% half in optimizer
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
enc, dec = nn.Linear(6, 2), nn.Linear(2, 6)
opt = torch.optim.Adam(dec.parameters(), lr=0.01)  #! 19
for _ in range(5):
    x = torch.randn(8, 6)
    loss = F.mse_loss(dec(enc(x)), x)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% head without an optimizer (read)
model = Net()
opt = torch.optim.Adam(model.parameters())  #! 19
head = nn.Linear(10, 2)
for x, y in loader:
    loss = F.cross_entropy(head(model(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% input optimised not leaf (stops)
import torch
from torch import nn

vgg = nn.Conv2d(3, 4, 3).requires_grad_(False)
content = torch.rand(1, 3, 8, 8)
image = content.clone().requires_grad_(True).to(torch.float32) * 1.0  #! ran 19
opt = torch.optim.Adam([image], lr=0.05)


# %% last layer awaits the first pass
import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(40, 6)
        self.last = None

    def forward(self, rows):
        flat = self.letters(rows).flatten(1)
        if self.last is None:
            self.last = nn.Linear(flat.shape[1], 2)  #! 19
        return self.last(flat)


reader = Reader()
rows, labels = torch.randint(0, 40, (90, 4)), torch.randint(0, 2, (90,))
opt = torch.optim.Adam(reader.parameters(), lr=0.01)
for turn in range(60):
    loss = nn.functional.cross_entropy(reader(rows), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% layer in forward
import torch
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
    def forward(self, x):
        h = self.a(x).relu()
        return nn.Linear(8, 3)(h)  #! ran 19
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randint(3, (64,))
for _ in range(10):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()


# %% layers appended to a list (read)
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = []  #! 19
        for i in range(n):
            layer = nn.Linear(10, 10)
            self.layers.append(layer)
    def forward(self, x):
        for l in self.layers: x = F.relu(l(x))
        return x


# %% learned temperature left out
import torch
import torch.nn as nn
import torch.nn.functional as F

class ContrastiveLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.logit_scale = nn.Parameter(torch.tensor(2.6))
    def forward(self, a, b):
        logits = self.logit_scale.exp() * a @ b.t()
        return F.cross_entropy(logits, torch.arange(a.size(0)))


image_encoder = nn.Linear(4, 3)
text_encoder = nn.Linear(4, 3)
criterion = ContrastiveLoss()
optimizer = torch.optim.Adam(list(image_encoder.parameters()) + list(text_encoder.parameters()), lr=2e-3)  #! 19
for step in range(200):
    img, txt = torch.randn(8, 4), torch.randn(8, 4)
    loss = criterion(image_encoder(img), text_encoder(txt))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% model made in loop
import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))  #! ran 19


net = build()
opt = torch.optim.Adam(net.parameters())  #! read 19
x, y = torch.randn(9, 2), torch.randn(9, 1)
for fold in range(3):
    net = build()
    for _ in range(10):
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()


# %% parameters used up (stops)
import torch
from torch import nn

net = nn.Linear(2, 1)
params = net.parameters()
print("count", sum(p.numel() for p in params))
opt = torch.optim.SGD(params, lr=0.1)  #! ran 19
for x, y in [(torch.randn(3, 2), torch.rand(3, 1))] * 2:
    opt.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    opt.step()


# %% register wrong param list
import torch
from torch import nn


class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = [nn.Parameter(torch.ones(1)) for _ in range(3)]  #! read 19
        self.lin = nn.Linear(2, 2)

    def forward(self, xs):
        return self.lin(sum(w * x for w, x in zip(self.weights, xs)))


m = Mix()
opt = torch.optim.Adam(m.parameters())
for xs in [[torch.randn(1, 2) for _ in range(3)]] * 2:
    opt.zero_grad()
    m(xs).pow(2).sum().backward()
    opt.step()


# %% scale that is no parameter (read)
class P(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.scale = torch.ones(n, requires_grad=True)  #! 19
        self.l = nn.Linear(n, n)
    def forward(self, x): return self.scale * self.l(x)


# %% stack of layers in a list (read)
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, widths):
        super().__init__()
        stack = []
        for a, b in zip(widths, widths[1:]):
            stack.append(nn.Linear(a, b))
        self.stack = stack  #! 19
    def forward(self, x):
        for layer in self.stack[:-1]:
            x = layer(x).relu()
        return self.stack[-1](x)


# %% temperature left out
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(8, 4)
temp = torch.tensor(0.07, requires_grad=True)
opt = torch.optim.Adam(net.parameters())  #! ran 19
for _ in range(5):
    a, b = F.normalize(net(torch.randn(16, 8)), dim=1), F.normalize(net(torch.randn(16, 8)), dim=1)
    loss = F.cross_entropy(a @ b.t() / temp, torch.arange(16))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% a new head after the optimizer was made
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        return self.head(self.body(x).relu())


torch.manual_seed(4)
model = Classifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.head = nn.Linear(8, 3)  #! 19
for _ in range(6):
    x = torch.randn(32, 4)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% a loaded network gets its head too late (read)
model = torchvision.models.resnet18(weights="DEFAULT")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
model.fc = nn.Linear(512, 5)  #! read 19
for x, y in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
