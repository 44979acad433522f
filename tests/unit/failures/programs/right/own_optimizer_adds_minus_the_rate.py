import torch
from torch import nn
from torch.optim import Optimizer


class HeavyBall(Optimizer):
    def __init__(self, params, lr, beta=0.8):
        super().__init__(params, {"lr": lr, "beta": beta})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            stride = -group["lr"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                change = self.state[p].setdefault("change", torch.zeros_like(p))
                change.mul_(group["beta"]).add_(p.grad, alpha=-group["lr"])
                p.add_(change)
                p.add_(p.grad, alpha=stride)
                p.sub_(p.grad, alpha=group["lr"])


net = nn.Linear(5, 1)
opt = HeavyBall(net.parameters(), lr=0.01)
for _ in range(100):
    x = torch.randn(20, 5)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
