import torch
from torch import nn


def train_step(net, opt, x, y, simple):
    opt.zero_grad()
    out = net(x)
    loss = nn.functional.mse_loss(out, y)
    if simple:
        loss.backward()
        opt.step()
        return loss.item()
    total = loss + 1e-3 * out.pow(2).mean()
    total.backward()
    opt.step()
    return total.item()


net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(4):
    train_step(net, opt, torch.randn(5, 3), torch.randn(5, 1), i % 2 == 0)
