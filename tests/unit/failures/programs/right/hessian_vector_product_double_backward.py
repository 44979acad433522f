import torch

x = torch.randn(5, requires_grad=True)
v = torch.randn(5)
f = (x**4).sum() + (x[0] * x[1])
(g,) = torch.autograd.grad(f, x, create_graph=True)
(g * v).sum().backward()
print(x.grad)
