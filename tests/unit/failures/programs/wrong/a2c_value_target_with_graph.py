import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(10):
    s, s2, r = torch.randn(16, 4), torch.randn(16, 4), torch.randn(16, 1)
    target = r + 0.99 * net(s2)  #! 11
    loss = nn.functional.mse_loss(net(s), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
