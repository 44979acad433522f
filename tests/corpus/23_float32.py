# %% gradcheck layer (stops)
import torch
import torch.nn as nn
from torch.autograd import gradcheck

layer = nn.Linear(3, 2).double()
inp = torch.randn(5, 3, requires_grad=True, dtype=torch.float)  #! ran 23
print(gradcheck(torch.sigmoid, (inp,), eps=1e-6, atol=1e-4))


# %% gradcheck single (stops)
import torch

torch.manual_seed(0)
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


x = torch.randn(4, requires_grad=True)  #! ran 23
torch.autograd.gradcheck(Cube.apply, (x,))


# %% single by name
import torch

torch.manual_seed(0)
precision = torch.float32  #? 23
w = torch.randn(4, dtype=precision, requires_grad=True)


def cost(v):
    return (v.sin() * v).sum()


cost(w).backward()
step, slopes = 1e-6, []
for place in range(4):
    nudge = torch.zeros(4, dtype=precision)
    nudge[place] = step
    slopes.append(((cost(w + nudge) - cost(w - nudge)) / (2 * step)).item())
print(slopes, w.grad)


# %% slopes with a default step
import torch


def slopes(f, place, width=1e-6):
    found = torch.zeros_like(place)
    for i in range(place.numel()):
        side = torch.zeros_like(place)
        side[i] = width
        found[i] = (f(place + side) - f(place)) / width
    return found


place = torch.ones(3, requires_grad=True)  #? 23
height = place.pow(3).sum()
height.backward()
print(place.grad, slopes(lambda p: p.pow(3).sum(), place.detach()))
