import torch
from torch import nn


class Regularised:
    def __init__(self, net, strength):
        self.net, self.strength = net, strength

    def penalty(self):
        total = 0.0
        for p in self.net.parameters():
            total += p.abs().sum().item()  #! 13
        return self.strength * total

    def __call__(self, x, y):
        return nn.functional.mse_loss(self.net(x), y) + self.penalty()


torch.manual_seed(24)
net = nn.Linear(10, 1)
objective = Regularised(net, 0.01)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(10):
    x = torch.randn(32, 10)
    loss = objective(x, x[:, :1])
    opt.zero_grad()
    loss.backward()
    opt.step()
