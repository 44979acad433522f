import torch

w = torch.ones(3, requires_grad=True)
losses = [(w * row).sum().square() for row in torch.randn(4, 3)]
loss = torch.tensor(losses).mean()  #! 4
loss.backward()
