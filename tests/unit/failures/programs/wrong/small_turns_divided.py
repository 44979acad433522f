import torch
from torch import nn

turn = nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([turn], lr=0.1)
x, y = torch.randn(30, 3), torch.randn(30, 3)
for step in range(50):
    angle = torch.linalg.vector_norm(turn)
    part = torch.where(angle < 1e-6, torch.ones(()), angle.sin() / angle)  #! 20
    loss = (part * torch.cross(turn.expand(30, 3), x, dim=1) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
