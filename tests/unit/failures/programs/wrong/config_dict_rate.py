import torch
import torch.nn as nn

CFG = {
    "model": {"width": 64, "depth": 3},
    "optim": {"name": "adam", "lr": 5.0},  #! 17
}


def get_model(cfg):
    w = cfg["width"]
    blocks = []
    for _ in range(cfg["depth"]):
        blocks += [nn.Linear(w, w), nn.ReLU()]
    return nn.Sequential(nn.Linear(8, w), *blocks, nn.Linear(w, 1))


def get_optimizer(params, cfg):
    return torch.optim.Adam(params, lr=cfg["lr"])


model = get_model(CFG["model"])
optimizer = get_optimizer(model.parameters(), CFG["optim"])
for x, y in batches:
    optimizer.zero_grad()
    ((model(x) - y) ** 2).mean().backward()
    optimizer.step()
