import torch

x = torch.tensor([1, 2, 3], requires_grad=True)  #! 22
y = (x**2).sum()
y.backward()
print(x.grad)
