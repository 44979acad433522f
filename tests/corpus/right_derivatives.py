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


# %% manual sgd in dict
import torch

params = {"w": torch.randn(5, 1), "b": torch.zeros(1)}
for p in params.values():
    p.requires_grad_()
x, y = torch.randn(100, 5), torch.randn(100, 1)
for _ in range(100):
    loss = ((x @ params["w"] + params["b"] - y) ** 2).mean()
    grads = dict(zip(params, torch.autograd.grad(loss, params.values())))
    params = {k: (p - 0.1 * grads[k]).detach().requires_grad_() for k, p in params.items()}


# %% newton
import torch
torch.manual_seed(16)
x = torch.tensor([-1.2, 1.0], dtype=torch.float64)
def f(p):
    return (1 - p[0]) ** 2 + 10 * (p[1] - p[0] ** 2) ** 2
for _ in range(20):
    p = x.clone().requires_grad_()
    g, = torch.autograd.grad(f(p), p, create_graph=True)
    h = torch.stack([torch.autograd.grad(gi, p, retain_graph=True)[0] for gi in g])
    x = x - torch.linalg.solve(h + 1e-3 * torch.eye(2, dtype=torch.float64), g.detach())
print(x)


# %% sharpness restored
"""Sharpness-aware minimisation that restores the parameters from a copy, without an optimizer."""

import torch

torch.manual_seed(2)
w, b = torch.randn(4, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for _ in range(8):
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    gradients = torch.autograd.grad((x @ w + b - y).pow(2).mean(), (w, b))
    kept = [p.detach().clone() for p in (w, b)]
    with torch.no_grad():
        for p, g in zip((w, b), gradients):
            p += 0.05 * g
    gradients = torch.autograd.grad((x @ w + b - y).pow(2).mean(), (w, b))
    with torch.no_grad():
        for p, before, g in zip((w, b), kept, gradients):
            p.copy_(before - 0.01 * g)


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
