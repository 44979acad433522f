import torch
from torch import nn

model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)


def clear():
    opt.zero_grad()


def update(loss):
    clear()
    loss.backward()
    opt.step()


for x, y in loader:
    update(nn.functional.mse_loss(model(x), y))
