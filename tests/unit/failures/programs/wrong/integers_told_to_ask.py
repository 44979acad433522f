import torch

x = torch.tensor([3, 4])  #! 22
x.requires_grad = True
