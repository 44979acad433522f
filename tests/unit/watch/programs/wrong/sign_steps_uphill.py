import torch
from torch import nn


class SignSteps(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, decay=0.8):
        super().__init__(params, {"lr": lr, "decay": decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                memory = self.state[p].setdefault("memory", torch.zeros_like(p))
                memory.mul_(group["decay"]).add_(p.grad, alpha=1 - group["decay"])
                p.add_(memory.sign(), alpha=group["lr"])  #! 18


torch.manual_seed(16)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = SignSteps(net.parameters())
for x in torch.randn(30, 32, 4):
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
