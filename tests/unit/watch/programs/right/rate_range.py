import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
start = copy.deepcopy(net.state_dict())
opt = torch.optim.SGD(net.parameters(), lr=1e-4)
losses = []
for _ in range(20):
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(net(x), x.square().sum(1, keepdim=True))
    losses.append(loss.item())
    opt.zero_grad()
    loss.backward()
    opt.step()
    opt.param_groups[0]["lr"] *= 1.7
net.load_state_dict(start)
