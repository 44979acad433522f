import torch
torch.manual_seed(0)
a = torch.randn(4, requires_grad=True)
h = a * 2
g = a * 3
out = (h * h).sum() + g.sum()
h.add_(1)  #! 1
g.add_(1)
out.backward()
