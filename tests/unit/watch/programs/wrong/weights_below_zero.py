import torch
from torch import nn

torch.manual_seed(0)
layer, head = nn.Linear(4, 8), nn.Linear(8, 1)
with torch.no_grad():
    layer.weight.copy_(-torch.rand(8, 4) - 0.1)  #! 14
    layer.bias.zero_()
opt = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.01)
for _ in range(12):
    x = torch.rand(16, 4) + 0.1
    loss = (head(layer(x).relu()) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
