import torch
from torch import nn

net = nn.Linear(2, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for x, y in loader:
    p = torch.sigmoid(net(x)).squeeze(1)
    decision = (p > 0.5).float()  #! 21
    loss = (decision - y).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
