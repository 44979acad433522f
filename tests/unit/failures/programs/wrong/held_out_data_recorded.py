import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters())
xtr, ytr, xva, yva = torch.randn(100, 8), torch.randn(100, 1), torch.randn(500, 8), torch.randn(500, 1)
for ep in range(5):
    net.train()
    loss = F.mse_loss(net(xtr), ytr)
    opt.zero_grad()
    loss.backward()
    opt.step()
    net.eval()
    val = F.mse_loss(net(xva), yva)  #! 12
    print(ep, loss.item(), val.item())
