import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(16, 2), torch.randn(16)
criterion = nn.SmoothL1Loss()
for _ in range(5):
    loss = criterion(net(x), y)  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
