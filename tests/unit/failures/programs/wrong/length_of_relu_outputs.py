import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(8, 2), nn.ReLU(), nn.Linear(2, 8))
x = torch.randn(64, 8)
opt = torch.optim.Adam(net.parameters())
for _ in range(5):
    z = torch.relu(net[0](x))
    norm = torch.sqrt((z**2).sum(1))  #! 9
    loss = norm.mean() + F.mse_loss(net(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
