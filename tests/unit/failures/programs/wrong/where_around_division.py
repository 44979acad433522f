import torch

x = torch.linspace(-1, 1, 5, requires_grad=True)
sinc = torch.where(x == 0, torch.ones_like(x), torch.sin(x) / x)  #! 20
loss = sinc.sum()
loss.backward()
