import torch

x = torch.tensor([2.0, 3.0])  #! 4
y = torch.tensor([6.0, 4.0])
q = (3 * x**3 - y**2).sum()
q.backward()
print(x.grad)
