import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
for m in net.modules():
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.bias, -10.0)  #! 14
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(32, 4), torch.randn(32, 1)
for _ in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
