import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.LBFGS(net.parameters(), max_iter=4)
x, y = torch.randn(16, 3), torch.randn(16, 1)


def closure():
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x), y) + 1e-3 * sum(p.pow(2).sum() for p in net.parameters())
    loss.backward()
    return loss


for _ in range(3):
    opt.step(closure=closure)
