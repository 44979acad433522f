import torch
from torch import nn

body = nn.Sequential(nn.Linear(10, 30), nn.ReLU(), nn.Linear(30, 30), nn.ReLU())
head = nn.Linear(30, 2)
for weight in body.parameters():
    weight.requires_grad = False
body[2].requires_grad = True  #! 12
optimizer = torch.optim.Adam([*body[2].parameters(), *head.parameters()], lr=1e-3)
x, y = torch.randn(80, 10), torch.randint(0, 2, (80,))
for epoch in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(head(body(x)), y).backward()
    optimizer.step()
