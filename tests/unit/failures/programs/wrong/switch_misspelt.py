import torch
from torch import nn

body = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh())
head = nn.Linear(20, 1)
for weight in body.parameters():
    weight.requires_grad = False


def thaw(layer):
    for weight in layer.parameters():
        weight.require_grad = True  #! 12


thaw(body[2])
optimizer = torch.optim.SGD([*body[2].parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(60, 6), torch.randn(60, 1)
for epoch in range(50):
    loss = nn.functional.mse_loss(head(body(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
