import torch
from torch import nn


def log_cosh(answer, truth):
    gap = answer - truth
    return gap.cosh().log().mean()


torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(12, 3)
y = x.sum(1)
for _ in range(5):
    answer = net(x)
    loss = log_cosh(answer, y)  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
