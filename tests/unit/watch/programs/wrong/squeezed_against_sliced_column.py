import torch
import torch.nn as nn

torch.manual_seed(0)
data = torch.randn(50, 3)
goal = data.sum(1, keepdim=True)
train = goal[:40]
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(20):
    loss = ((net(data[:40]).squeeze(-1) - train) ** 2).mean().sqrt()  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
