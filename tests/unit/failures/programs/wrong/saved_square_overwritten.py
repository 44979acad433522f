import torch

w = torch.randn(5, requires_grad=True)
h = w * 3
loss = (h**2).sum()
h += 1  #! 1
loss.backward()
