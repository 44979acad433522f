import torch
from torch import nn

torch.manual_seed(0)
first = nn.Linear(2, 8)
rest = nn.ModuleList(nn.Linear(8, 8) for _ in range(12))
last = nn.Linear(8, 1)
parts = nn.ModuleList([first, rest, last])
opt = torch.optim.SGD(parts.parameters(), lr=0.1)
x = torch.randn(32, 2)
for _ in range(6):
    h = first(x).sigmoid()
    for layer in rest:
        h = layer(h).sigmoid()  #! 15
    loss = (last(h) - x.prod(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
