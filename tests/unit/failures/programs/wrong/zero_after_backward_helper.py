import torch
import torch.nn as nn


def reset(optimizers):
    for o in optimizers:
        o.zero_grad()


def advance(optimizers):
    for o in optimizers:
        o.step()


enc, dec = nn.Linear(8, 4), nn.Linear(4, 8)
opts = [torch.optim.Adam(enc.parameters()), torch.optim.Adam(dec.parameters())]
for x in loader:
    loss = (dec(enc(x)) - x).abs().mean()
    loss.backward()
    reset(opts)  #! 18
    advance(opts)
