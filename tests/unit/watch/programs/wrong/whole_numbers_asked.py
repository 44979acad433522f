import torch

start = torch.tensor([3, -1])  #! 22
start.requires_grad_()
(start * start).sum().backward()
