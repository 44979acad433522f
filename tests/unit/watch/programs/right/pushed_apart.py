import torch
from torch import nn

torch.manual_seed(7)
net = nn.Linear(6, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.02)
a, near, far = torch.randn(30, 6), torch.randn(30, 6), torch.randn(30, 6)
for _ in range(10):
    one, two, three = net(a), net(near), net(far)
    apart = -(one - three).square().sum(1)
    loss = (apart + 2 * (one - two).square().sum(1)).clamp(min=-4).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
