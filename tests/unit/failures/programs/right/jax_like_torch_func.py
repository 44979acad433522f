import torch
from torch.func import functional_call, grad_and_value, vmap

net = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
params = {name: p.detach().clone() for name, p in net.named_parameters()}


def loss_fn(params, x, y):
    return (functional_call(net, params, (x,)) - y).pow(2).mean()


step = grad_and_value(loss_fn)
per_sample = vmap(torch.func.grad(loss_fn), in_dims=(None, 0, 0))
for x, y in loader:
    grads, value = step(params, x, y)
    params = {name: p - 0.01 * grads[name] for name, p in params.items()}
    print(value.item())
