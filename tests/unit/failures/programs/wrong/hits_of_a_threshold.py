import torch
import torch.nn as nn

net = nn.Linear(6, 1)
opt = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.randn(60, 6)
y = x[:, 0] > 0
for _ in range(5):
    p = torch.sigmoid(net(x)).squeeze(1)
    hits = ((p > 0.5) == y).float().mean()  #! 21
    loss = 1 - hits
    opt.zero_grad()
    loss.backward()
    opt.step()
