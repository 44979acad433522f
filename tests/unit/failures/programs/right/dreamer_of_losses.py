import torch
from collections import defaultdict
from torch import nn

model = nn.ModuleDict({"enc": nn.Linear(3, 3), "dec": nn.Linear(3, 3)})
opt = torch.optim.Adam(model.parameters(), 1e-3)
meters = defaultdict(list)
for x in loader:
    z = model["enc"](x)
    losses = {"rec": (model["dec"](z) - x).pow(2).mean(), "kl": z.pow(2).mean() * 1e-3}
    loss = sum(losses.values())
    opt.zero_grad()
    loss.backward()
    opt.step()
    for k, v in losses.items():
        meters[k].append(v.item())
