import torch
from torch import nn
from torch.optim import Optimizer


class HeavyBall(Optimizer):
    def __init__(self, params, lr, beta=0.8):
        super().__init__(params, {"lr": lr, "beta": beta})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.add_(p.grad, alpha=group["lr"])  #! 18


net = nn.Linear(5, 1)
opt = HeavyBall(net.parameters(), lr=0.01)
for _ in range(100):
    x = torch.randn(20, 5)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
