import torch


def loss_of(params, x, y):
    w, b = params
    return ((x @ w + b - y) ** 2).mean()


params = [torch.randn(3, requires_grad=True), torch.zeros(1, requires_grad=True)]
x, y = torch.randn(20, 3), torch.randn(20)
for i in range(100):
    loss = loss_of(params, x, y)
    loss.backward()
    params = [p - 0.1 * p.grad for p in params]  #! 5
