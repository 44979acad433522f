import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    opt.zero_grad()
    x = torch.randn(64, 4)
    for a in x.chunk(4):
        loss = (net(a) - a.sum(1, keepdim=True)).pow(2).mean()
        (loss / 4).backward()
    opt.step()
