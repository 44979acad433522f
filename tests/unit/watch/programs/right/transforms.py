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
