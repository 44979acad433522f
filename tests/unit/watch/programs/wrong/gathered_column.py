import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(5):
    state, choice, gain = torch.randn(12, 5), torch.randint(0, 3, (12,)), torch.randn(12)
    worth = net(state).gather(1, choice[:, None])  #! 8
    loss = F.smooth_l1_loss(worth, gain)
    opt.zero_grad()
    loss.backward()
    opt.step()
