import torch
from torch import nn


class Weighted(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(n))

    def forward(self, losses):
        total = 0
        for i, loss in enumerate(losses):
            total = total + torch.exp(-self.log_vars[i]) * loss + self.log_vars[i]
        return total


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ELU(), nn.Flatten(), nn.LazyLinear(128), nn.ELU())
        self.depth = nn.Linear(128, 1)
        self.scene = nn.Linear(128, 6)

    def forward(self, x):
        h = self.shared(x)
        return {"depth": self.depth(h)[:, 0], "scene": self.scene(h)}


net, balance = Net(), Weighted(2)
opt = torch.optim.Adam([{"params": net.parameters()}, {"params": balance.parameters(), "lr": 1e-2}], lr=1e-3)
for batch in loader:
    out = net(batch["image"])
    loss = balance(
        [
            nn.functional.l1_loss(out["depth"], batch["depth"]),
            nn.functional.cross_entropy(out["scene"], batch["scene"]),
        ]
    )
    opt.zero_grad()
    loss.backward()
    opt.step()
    print({k: v.detach().mean().item() for k, v in out.items()}, balance.log_vars.tolist())
