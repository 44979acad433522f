import torch

x = torch.tensor(3.0, requires_grad=True)
y = x**3
y.backward(retain_graph=True)
print(x.grad)
x.grad.zero_()
y.backward()
print(x.grad)
z = torch.randn(3, requires_grad=True)
v = z * 2
v.backward(torch.ones(3))
print(z.grad)
n = torch.tensor([1, 2, 3])
print(n.float().mean())
