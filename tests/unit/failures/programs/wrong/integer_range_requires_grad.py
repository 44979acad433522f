import torch

t = torch.arange(5, requires_grad=True)  #! 22
(t * 2).sum().backward()
