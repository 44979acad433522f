import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(10, 1), nn.Sigmoid())
opt = torch.optim.Adam(net.parameters(), lr=0.1)
x, y = torch.randn(64, 10), torch.randint(0, 2, (64, 1)).float()
for _ in range(10):
    p = net(x)
    loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()  #! 9
    opt.zero_grad()
    loss.backward()
    opt.step()
