import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, loader, accum=4):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for step, batch in enumerate(loader):
        opt.zero_grad()  #! 24
        out = model(batch["x"])
        loss = F.cross_entropy(out, batch["y"]) / accum
        loss.backward()
        if (step + 1) % accum == 0:
            opt.step()
