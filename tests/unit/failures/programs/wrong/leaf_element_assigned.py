import torch

x = torch.ones(5, requires_grad=True)
x[0] = 3.0  #! 7
y = (x * 2).sum()
y.backward()
print(x.grad)
