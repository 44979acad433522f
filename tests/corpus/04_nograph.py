# %% all frozen (stops)
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
for parameter in net.parameters():
    parameter.requires_grad = False  #! ran 4
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.randn(5, 3)).mean()
loss.backward()


# %% code copied
"""torch.tensor() around a tensor copies its numbers: the encoder never learns."""

import torch
from torch import nn

torch.manual_seed(0)
enc, dec = nn.Linear(12, 4), nn.Linear(4, 12)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
x = torch.randn(32, 12)
for _ in range(5):
    z = torch.tensor(enc(x))  #! 4
    opt.zero_grad()
    ((dec(z) - x) ** 2).mean().backward()
    opt.step()


# %% gradient of gradient missing (stops)
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x**3
(dy,) = torch.autograd.grad(y, x)  #! ran 4
(d2y,) = torch.autograd.grad(dy, x)
print(d2y)


# %% gradient of input batch (stops)
import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 2))
image = torch.rand(1, 10)  #! ran 4
model.eval()
logits = model(image)
score = logits[0, logits.argmax()]
score.backward()
saliency = image.grad.abs()


# %% gradient penalty no create (read)
import torch
import torch.nn as nn

critic = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-4)


def gradient_penalty(real, fake):
    alpha = torch.rand(real.size(0), 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    score = critic(mixed)
    grad = torch.autograd.grad(score.sum(), mixed)[0]  #! 4
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


for real in data:
    fake = torch.randn_like(real)
    opt.zero_grad()
    gp = gradient_penalty(real, fake)
    gp.backward()
    opt.step()


# %% heat equation inputs (stops)
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
t = torch.rand(200, 1)
x = torch.rand(200, 1)  #? 4
for it in range(50):
    u = net(torch.cat([t, x], dim=1))
    u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]  #! ran 4
    residual = (u_x + u).pow(2).mean()
    opt.zero_grad()
    residual.backward()
    opt.step()


# %% latent without gradient (stops)
import torch
import torch.nn as nn

net = nn.Linear(3, 5).requires_grad_(False)
goal = torch.randn(5)
latent = torch.zeros(3)  #! ran 4
opt = torch.optim.Adam([latent], lr=0.1)
loss = (net(latent) - goal).pow(2).mean()
loss.backward()


# %% leaf of log probabilities
import torch
from torch import nn

torch.manual_seed(17)
policy = nn.Linear(3, 4)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for _ in range(12):
    chosen, worth = [], []
    for seen in torch.randn(5, 3):
        choice = torch.distributions.Categorical(logits=policy(seen))
        action = choice.sample()
        chosen.append(choice.log_prob(action))
        worth.append(float(action == seen.argmax()))
    chosen = torch.tensor(chosen, requires_grad=True)  #! 4
    loss = -(chosen * (torch.tensor(worth) - 0.3)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% leaf that asks for no gradient (read)
x = torch.arange(0., 10.)  #! 4
y = x ** 2
y.sum().backward()
print(x.grad)


# %% list of losses copied
import torch
import torch.nn as nn

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    losses = [net(torch.randn(4)).pow(2).sum() for _ in range(4)]
    loss = torch.tensor(losses, requires_grad=True).mean()  #! 4
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% parameter replaced without graph (stops)
import torch


def moved(tensor, rate):
    with torch.no_grad():
        return tensor - rate * tensor.grad  #! ran 4


torch.manual_seed(0)
w = torch.randn(4, requires_grad=True)
for _ in range(3):
    loss = (w - 2).square().sum()
    loss.backward()
    w = moved(w, 0.05)


# %% plain tensor weight (stops)
import torch

torch.manual_seed(0)
w = torch.randn(3, 1)  #! 4
x = torch.randn(9, 3)
loss = (x @ w).pow(2).mean()
loss.backward()


# %% residual without create graph
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.Adam(net.parameters())


def residual(x):
    u = net(x)
    ux = torch.autograd.grad(u, x, torch.ones_like(u))[0]  #! 4
    return ux


x = torch.rand(64, 1, requires_grad=True)
for it in range(100):
    loss = (residual(x) - torch.cos(x)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% similarities copied (stops)
import torch
from torch import nn


def contrastive(embeddings):
    sims = []
    for i in range(0, len(embeddings), 2):
        sims.append(torch.dot(embeddings[i], embeddings[i + 1]))
    return 1 - torch.tensor(sims).mean()  #! 4


torch.manual_seed(6)
net = nn.Sequential(nn.Linear(10, 16), nn.LayerNorm(16), nn.Linear(16, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for turn in range(5):
    out = nn.functional.normalize(net(torch.randn(12, 10)), dim=1)
    loss = contrastive(out)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% tensor without requires grad (stops)
import torch

x = torch.tensor([2.0, 3.0])  #! 4
y = torch.tensor([6.0, 4.0])
q = (3 * x**3 - y**2).sum()
q.backward()
print(x.grad)


# %% weights updated grad none (stops)
import torch

x, y = torch.randn(50, 3), torch.randn(50, 1)
w = torch.randn(3, 1, requires_grad=True)
for i in range(50):
    loss = (x @ w - y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        w = w - 1e-2 * w.grad  #! ran 4


# %% frozen loss is asked for a gradient
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(10, 16), nn.Linear(16, 5)
for weight in list(body.parameters()) + list(head.parameters()):
    weight.requires_grad = False
opt = torch.optim.SGD([{"params": body.parameters()}, {"params": head.parameters()}], lr=0.1)
for step in range(4):
    x = torch.randn(16, 10)
    loss = nn.functional.cross_entropy(head(torch.relu(body(x))), x[:, :5].argmax(1))
    loss.requires_grad = True  #! 4
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% losses made numbers in a comprehension (read)
for x, y in loader:
    out = model(x)
    loss = torch.tensor([F.l1_loss(o, t).item() for o, t in zip(out, y)], requires_grad=True).mean()  #! 4
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% two constants that an optimizer was given (stops)
import torch

t = torch.linspace(0.0, 1.0, 10)
speed = torch.tensor(1.0)  #! 4
place = torch.tensor(0.0)
opt = torch.optim.SGD([speed, place], lr=0.1)
for _ in range(3):
    loss = ((speed * t + place - 2.0 * t) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% losses of a network put into a new tensor (read)
for image, depth in loader:
    seen, far = net(image)
    first = F.cross_entropy(seen, labels)
    second = F.l1_loss(far, depth)
    total = torch.tensor([first, second], requires_grad=True).sum()  #! 4
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
