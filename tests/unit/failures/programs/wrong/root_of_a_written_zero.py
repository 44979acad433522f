import torch

x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
y = torch.sqrt(x).sum()  #! 9
y.backward()
print(x.grad)
