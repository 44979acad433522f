import torch
torch.manual_seed(0)
x = torch.randn(4, requires_grad=True)
y = x.exp()
z = x + 1
y += 1  #! 1
z += 1
(y.sum() + z.sum()).backward()
