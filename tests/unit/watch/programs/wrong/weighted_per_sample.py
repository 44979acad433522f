import torch
from torch import nn


def weighted(out, target):
    errors = nn.functional.mse_loss(out, target, reduction="none").mean(dim=1)
    return errors * torch.linspace(0, 1, len(errors))  #! 3


torch.manual_seed(0)
net = nn.Linear(4, 2)
value = weighted(net(torch.randn(6, 4)), torch.randn(6, 2))
value.backward()
