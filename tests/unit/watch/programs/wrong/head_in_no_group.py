import torch
from torch import nn

torch.manual_seed(33)
body = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
heads = nn.ModuleDict({"digit": nn.Linear(4, 10), "parity": nn.Linear(4, 2)})
groups = [{"params": body.parameters(), "lr": 1e-3}, {"params": heads["digit"].parameters(), "lr": 1e-2}]
opt = torch.optim.AdamW(groups, weight_decay=1e-2)  #! 19
for step, x in enumerate(torch.randn(15, 16, 1, 6, 6)):
    digit = torch.randint(10, (16,))
    h = body(x).mean((2, 3))
    loss = nn.functional.cross_entropy(heads["digit"](h), digit)
    loss = loss + nn.functional.cross_entropy(heads["parity"](h), digit % 2)
    opt.zero_grad()
    loss.backward()
    opt.step()
