import torch
from torch import nn

torch.manual_seed(0)


class Plain(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"])


net = nn.Linear(3, 1)
opt = Plain(net.parameters(), lr=5.0)  #! 17
x = torch.randn(20, 3)
for _ in range(12):
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
