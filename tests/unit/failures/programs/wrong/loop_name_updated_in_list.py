import torch

w = torch.randn(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
x, y = torch.randn(40, 3), torch.randn(40)
for step in range(200):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    for leaf in [w, b]:
        leaf = leaf.detach() - 0.05 * leaf.grad  #! 5
    w.grad = None
    b.grad = None
