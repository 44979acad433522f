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
                p.add_(memory.sign(), alpha=-group["lr"])


class UpThenDown(torch.optim.Optimizer):
    """Sharpness-aware steps: climb a little, take the gradient there, come back and step down."""

    def __init__(self, params, lr=0.05, radius=0.05):
        super().__init__(params, {"lr": lr, "radius": radius})

    @torch.no_grad()
    def climb(self):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["up"] = group["radius"] * p.grad / (p.grad.norm() + 1e-12)
                p.add_(self.state[p]["up"])
                p.grad = None

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(self.state[p]["up"])
                p.sub_(group["lr"] * p.grad)


def trained(make, twice):
    torch.manual_seed(16)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    opt = make(net.parameters())
    for x in torch.randn(20, 32, 4):
        for again in range(1 + twice):
            loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
            loss.backward()
            if twice and not again:
                opt.climb()
        opt.step()
        opt.zero_grad()
    return loss.item()


print(trained(SignSteps, False), trained(UpThenDown, True))
