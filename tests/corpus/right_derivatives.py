# %% custom function
import torch
import torch.nn as nn

torch.manual_seed(0)
class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx, g):
        return g


net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(5):
    loss = Clip.apply(net(torch.randn(8, 4))).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% derivatives up and down
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
image = torch.randn(1, 4, requires_grad=True)
for _ in range(20):  # an attack climbs
    loss = nn.functional.cross_entropy(net(image), torch.tensor([0]))
    (slope,) = torch.autograd.grad(loss, image)
    with torch.no_grad():
        image += 0.1 * slope

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
velocity = torch.zeros(3)
for turn in range(20):
    loss = (w - torch.arange(3.0)).pow(2).mean()
    (slope,) = torch.autograd.grad(loss, w)
    velocity = 0.9 * velocity - 0.1 * slope
    with torch.no_grad():
        w += velocity
for turn in range(20):
    if turn > 0:
        optimizer.step()
        optimizer.zero_grad()
    (w**2).sum().backward()


# %% functional call and vmap
import torch
from torch import nn
from torch.func import functional_call, grad, vmap

net = nn.Linear(3, 1)
params = {name: p.detach() for name, p in net.named_parameters()}


def loss_of(params, x, y):
    return nn.functional.mse_loss(functional_call(net, params, (x.unsqueeze(0),)), y.unsqueeze(0))


for _ in range(3):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    per_sample = vmap(grad(loss_of), in_dims=(None, 0, 0))(params, x, y)
    params = {name: p - 0.01 * per_sample[name].mean(0) for name, p in params.items()}


# %% gradcheck with a long step
import torch
torch.manual_seed(0)
# the rule is wrong, and the step is long enough for single precision
class Sq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]
x = torch.randn(3, requires_grad=True)
try:
    torch.autograd.gradcheck(Sq.apply, (x,), eps=1e-2, atol=1e-2, rtol=1e-2)
except Exception as e:
    print(e)


# %% gradcheck with double
import torch
from torch.autograd import gradcheck

linear = torch.nn.Linear(3, 2).double()
x = torch.randn(5, 3, requires_grad=True).double()
inputs = (torch.rand(4, 3, dtype=torch.float64, requires_grad=True),)
assert gradcheck(linear, inputs, eps=1e-6, atol=1e-4)


# %% gradient penalty
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(6):
    x = torch.randn(8, 3, requires_grad=True)
    out = net(x)
    (g,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    loss = out.mean() + ((g.norm(dim=1) - 1) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% gradients given
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(32, 3)
for _ in range(10):
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    for p, g in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters()))):
        p.grad = g
    opt.step()


# %% hessian vector product double backward
import torch

x = torch.randn(5, requires_grad=True)
v = torch.randn(5)
f = (x**4).sum() + (x[0] * x[1])
(g,) = torch.autograd.grad(f, x, create_graph=True)
(g * v).sum().backward()
print(x.grad)


# %% maml
import torch
from torch.func import functional_call
import torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(10):
    opt.zero_grad()
    total = 0.0
    for _ in range(3):
        a = torch.rand(1) * 3
        x = torch.randn(10, 1)
        p = dict(net.named_parameters())
        inner = (functional_call(net, p, x) - a * x).pow(2).mean()
        g = torch.autograd.grad(inner, p.values(), create_graph=True)
        fast = {k: v - 0.1 * d for (k, v), d in zip(p.items(), g)}
        total = total + (functional_call(net, fast, x) - a * x).pow(2).mean()
    (total / 3).backward()
    opt.step()


# %% pgd attack
import torch
import torch.nn.functional as F


def pgd(model, x, y, eps=0.03, alpha=0.01, steps=10):
    adv = x.clone().detach()
    for _ in range(steps):
        adv.requires_grad = True
        loss = F.cross_entropy(model(adv), y)
        grad = torch.autograd.grad(loss, adv)[0]
        adv = adv.detach() + alpha * grad.sign()
        adv = torch.max(torch.min(adv, x + eps), x - eps)
    return adv.detach()


# %% slopes of places
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
inside = torch.linspace(0, 1, 20)[:, None].requires_grad_()
start = torch.zeros(1, 1, requires_grad=True)
for _ in range(8):
    u = net(inside)
    slope = torch.autograd.grad(u, inside, torch.ones_like(u), create_graph=True)[0]
    first = torch.autograd.grad(net(start), start, create_graph=True)[0]
    loss = (slope + u).square().mean() + (first - 1).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% transforms
"""The transforms of torch.func hand out tensors without memory of their own."""

import torch
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vmap

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
params = {name: value.detach() for name, value in net.named_parameters()}


def loss(p, x, y):
    return (functional_call(net, p, (x,)) - y).pow(2).mean()


for _ in range(5):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    gradients = grad(loss)(params, x, y)
    each = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
    params = {name: value - 0.1 * gradients[name] for name, value in params.items()}

point = torch.randn(3)
jacrev(torch.sin)(point), jacfwd(torch.sin)(point), hessian(lambda t: (t**3).sum())(point)
jvp(torch.exp, (point,), (torch.ones(3),))
w = torch.randn(3, requires_grad=True)
vmap(lambda a: (a * w).tanh().sum())(torch.randn(4, 3)).sum().backward()
torch.autograd.grad(w.sin(), w, torch.eye(3), is_grads_batched=True)
