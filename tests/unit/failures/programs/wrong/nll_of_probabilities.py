import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1))  #! 25
crit = nn.NLLLoss()
opt = torch.optim.Adam(net.parameters())
for x, y in [(torch.randn(4, 2), torch.randint(0, 3, (4,)))] * 3:
    opt.zero_grad()
    crit(net(x), y).backward()
    opt.step()
