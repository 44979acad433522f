import torch
from torch import nn

areas = torch.tensor([0.0, 1.0, 4.0, 9.0])
factor = nn.Parameter(torch.tensor(1.5))
opt = torch.optim.SGD([factor], lr=0.01)
for _ in range(5):
    stretched = factor * areas
    sides = torch.where(areas > 0, torch.sqrt(stretched), torch.zeros_like(stretched))  #! 20
    loss = (sides - torch.tensor([0.0, 2.0, 4.0, 6.0])).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
