import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
points = torch.stack([torch.ones(3), torch.zeros(3)])
for _ in range(3):
    distance = torch.sqrt(((points - w) ** 2).sum(1))  #! 9
    loss = distance.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
