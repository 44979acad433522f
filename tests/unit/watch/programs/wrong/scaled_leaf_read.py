import torch

w = torch.randn(4, requires_grad=True) * 0.1  #! 5
(w * torch.ones(4)).sum().backward()
print(w.grad)
