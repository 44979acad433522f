import copy

import torch
import torch.nn as nn


class EMA:
    def __init__(self, model: nn.Module, decay: float = 0.999):
        self.decay = decay
        self.shadow = copy.deepcopy(model)

    def update(self, model: nn.Module):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.mul_(self.decay)  #! 7
            s.add_((1 - self.decay) * p)  #! 7


model = nn.Linear(10, 10)
ema = EMA(model)
opt = torch.optim.Adam(model.parameters())
for x, y in loader:
    opt.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    opt.step()
    ema.update(model)
