# %% attack on a frozen network
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).requires_grad_(False)
x, y = torch.randn(5, 8), torch.randint(0, 3, (5,))
delta = (torch.randn(5, 8) * 0.01).requires_grad_()
for step in range(10):
    loss = nn.functional.cross_entropy(net(x + delta), y)
    loss.backward()
    with torch.no_grad():
        delta += 0.3 * delta.grad / delta.grad.norm(dim=1, keepdim=True)
        delta.grad.zero_()


# %% evaluated with graphs for a use
"""Models in eval mode whose graphs are recorded, for a reason: a frozen norm, a teacher that is detached."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
teacher = copy.deepcopy(net).eval()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(60, 4)
y = x[:, :3].argmax(1)
for turn in range(8):
    net.train(turn < 4)
    wanted = teacher(x).softmax(1).detach()
    answer = net(x)
    loss = nn.functional.cross_entropy(answer, y) + 0.1 * nn.functional.cross_entropy(answer, wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
net.eval()
print((net(x).argmax(1) == y).float().mean())


# %% frozen backbone
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
body, head = nn.Linear(4, 8), nn.Linear(8, 2)
for p in body.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(6):
    loss = F.cross_entropy(head(body(torch.randn(8, 4)).relu()), torch.randint(0, 2, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% frozen from a list
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
fixed = [p for name, p in net.named_parameters() if name.startswith("0.")]
for parameter in fixed:
    parameter.requires_grad_(False)
for name, parameter in net.named_parameters():
    if name.startswith("4."):
        continue
    parameter.requires_grad_(False)
opt = torch.optim.SGD((p for p in net.parameters() if p.requires_grad), lr=0.05)
x, y = torch.randn(40, 6), torch.randn(40, 1)
for _ in range(5):
    loss = (net(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% frozen lower layers
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
for p in net[:3].parameters():
    p.requires_grad = False
opt = torch.optim.SGD((p for p in net.parameters() if p.requires_grad), lr=0.1)
for _ in range(5):
    loss = nn.functional.cross_entropy(net(torch.randn(8, 10)), torch.randint(0, 3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% gradual unfreezing
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
for p in net.parameters():
    p.requires_grad = False
stages = [net[4], net[2], net[0]]
for stage in stages:
    for p in stage.parameters():
        p.requires_grad = True
    opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)
    for _ in range(3):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
        loss.backward()
        opt.step()


# %% knowledge distillation temperature
import torch
import torch.nn as nn
import torch.nn.functional as F

teacher = nn.Linear(20, 10).eval().requires_grad_(False)
student = nn.Linear(20, 10)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
T = 4.0
for _ in range(5):
    x, y = torch.randn(16, 20), torch.randint(0, 10, (16,))
    s = student(x)
    soft = F.kl_div(F.log_softmax(s / T, dim=1), F.softmax(teacher(x) / T, dim=1), reduction="batchmean") * T * T
    hard = F.cross_entropy(s, y)
    loss = 0.7 * soft + 0.3 * hard
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% labels from scores
import torch
from torch import nn

student, teacher = nn.Linear(4, 3), nn.Linear(4, 3)
opt = torch.optim.Adam(student.parameters())
for x in [torch.randn(6, 4)] * 2:
    pseudo = (teacher(x).sigmoid() > 0.5).long().sum(1)
    loss = nn.functional.cross_entropy(student(x), pseudo.clamp(max=2))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% lora layers (read)
import math

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank=8, alpha=16):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.empty(rank, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + (x @ self.A.T @ self.B.T) * self.scale


def inject(model, rank=8):
    for name, child in model.named_children():
        if isinstance(child, nn.Linear):
            setattr(model, name, LoRALinear(child, rank))
        else:
            inject(child, rank)
    return model


model = inject(load_pretrained())
trainable = [p for n, p in model.named_parameters() if n.endswith((".A", ".B"))]
optimizer = torch.optim.AdamW(trainable, lr=2e-4)
for batch in loader:
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


# %% polyak target under no grad
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

q = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
target_q = copy.deepcopy(q).requires_grad_(False)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(10):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a, r, done = torch.randint(0, 2, (32, 1)), torch.randn(32), torch.zeros(32)
    with torch.no_grad():
        best = target_q(s2).max(dim=1).values
        target = r + 0.99 * (1 - done) * best
    chosen = q(s).gather(1, a).squeeze(1)
    loss = F.smooth_l1_loss(chosen, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, tp in zip(q.parameters(), target_q.parameters()):
            tp.mul_(0.995).add_(p, alpha=0.005)


# %% pooled head learns
import torch
import torch.nn.functional as F
from torch import nn

body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.SELU(), nn.AvgPool2d(2)).requires_grad_(False)
head = nn.Linear(4, 2)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(4):
    with torch.no_grad():
        features = F.normalize(F.adaptive_avg_pool2d(body(torch.randn(6, 3, 10, 10)), 1).flatten(1), dim=1)
    optimizer.zero_grad()
    F.cross_entropy(head(features), torch.randint(0, 2, (6,))).backward()
    optimizer.step()


# %% style of the target without gradients
import torch
from torch import nn

torch.manual_seed(0)


class Style(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.Conv2d(1, 4, 3)
        self.filters.requires_grad_(False)

    def statistics(self, image):
        return self.filters(image).relu().mean((2, 3))

    def forward(self, made, wanted):
        with torch.no_grad():
            goal = self.statistics(wanted)
            least = (goal - goal.mean(0)).square().mean()
        return (self.statistics(made) - goal).square().mean() - least


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


# %% zero convolutions
import torch
from torch import nn

torch.manual_seed(0)
frozen = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU()).requires_grad_(False)
tail = nn.Conv2d(8, 3, 3, padding=1).requires_grad_(False)
entrance, exit_ = nn.Conv2d(3, 8, 1), nn.Conv2d(8, 3, 1)
for layer in (entrance, exit_):
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
opt = torch.optim.Adam([*entrance.parameters(), *exit_.parameters()], lr=1e-3)
x, y = torch.rand(4, 3, 8, 8), torch.rand(4, 3, 8, 8)
for _ in range(6):
    hidden = frozen(x)
    out = tail(hidden + entrance(x)) + exit_(hidden)
    loss = (out - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())


# %% a new head, and then the optimizer (read)
model = torchvision.models.resnet18(weights="DEFAULT")
model.fc = nn.Linear(512, 5)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for x, y in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()


# %% a new head that the optimizer gets as a group (read)
model = torchvision.models.resnet18(weights="DEFAULT")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
model.fc = nn.Linear(512, 5)
optimizer.add_param_group({"params": model.fc.parameters()})
for x, y in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
