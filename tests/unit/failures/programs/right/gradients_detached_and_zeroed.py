import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-1)
for _ in range(5):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.detach_().zero_()
    loss = nn.functional.mse_loss(model(torch.randn(4, 2)), torch.randn(4, 1))
    loss.backward()
    optimizer.step()
