import torch

w = torch.tensor([[1, 2], [3, 4]], requires_grad=True)  #! 22
x = torch.tensor([1.0, 1.0])
(w.float() @ x).sum().backward()
