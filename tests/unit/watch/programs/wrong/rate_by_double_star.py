import torch
from torch import nn

torch.manual_seed(29)
config = {
    "width": 24,
    "optimizer": {
        "lr": 3.0,  #! 17
        "betas": (0.9, 0.95),
    },
}


def build():
    net = nn.Sequential(nn.Linear(12, config["width"]), nn.LayerNorm(config["width"]), nn.GELU(), nn.Linear(config["width"], 4))
    return net, torch.optim.Adam(net.parameters(), **config["optimizer"])


net, opt = build()
centres = 0.5 * torch.randn(4, 12)
for _ in range(40):
    y = torch.randint(4, (64,))
    loss = nn.functional.cross_entropy(net(centres[y] + torch.randn(64, 12)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(round(loss.item(), 3), end=" ")
