import torch

params = {"w": torch.randn(5, 1), "b": torch.zeros(1)}
for p in params.values():
    p.requires_grad_()
x, y = torch.randn(100, 5), torch.randn(100, 1)
for _ in range(100):
    loss = ((x @ params["w"] + params["b"] - y) ** 2).mean()
    grads = dict(zip(params, torch.autograd.grad(loss, params.values())))
    params = {k: (p - 0.1 * grads[k]).detach().requires_grad_() for k, p in params.items()}
