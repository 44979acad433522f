import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.zeros(3, requires_grad=True)
target = torch.tensor([1.0, 2.0, 3.0])
opt = torch.optim.LBFGS([w], max_iter=5)


def closure():
    opt.zero_grad()
    loss = (w - target).pow(2).sum()
    loss.backward()
    return loss


for _ in range(4):
    opt.step(closure)
