import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
s = torch.sin(x) / x  #! 20
y = torch.where(x == 0, torch.ones_like(x), s)
y.sum().backward()
print(x.grad)
