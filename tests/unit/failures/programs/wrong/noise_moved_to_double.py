import torch

x = torch.randn(3, requires_grad=True).double()  #! 5
target = torch.tensor([1.0, 2.0, 3.0], dtype=torch.double)
loss = ((x - target) ** 2).sum()
loss.backward()
print("gradient:", x.grad)
