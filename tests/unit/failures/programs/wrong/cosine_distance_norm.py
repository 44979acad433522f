import torch
import torch.nn as nn

torch.manual_seed(1)
points = nn.Parameter(torch.randn(30, 2))
wanted = torch.rand(30, 30)
optimizer = torch.optim.Adam([points], lr=0.05)


def pairwise(p):
    delta = p.unsqueeze(0) - p.unsqueeze(1)
    return (delta**2).sum(dim=-1).sqrt()  #! 9


for epoch in range(200):
    optimizer.zero_grad()
    stress = ((pairwise(points) - wanted) ** 2).sum()
    stress.backward()
    optimizer.step()
