import torch

x = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
print(x.grad)
(x * 3).sum().backward()
print("2 + 3 =", x.grad)
