import torch
import torch.nn as nn

net1, net2 = nn.Linear(8, 16), nn.Linear(16, 1)
x = torch.randn(64, 8)
opt = torch.optim.Adam([*net1.parameters(), *net2.parameters()], lr=1e-3)
idx = torch.tensor([0, 3])
for i in range(10):
    h = torch.sigmoid(net1(x))
    picked = h[idx]
    picked.mul_(2)
    h = h.clone()
    h[:, :4] *= 2
    loss = net2(h).pow(2).mean() + picked.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
