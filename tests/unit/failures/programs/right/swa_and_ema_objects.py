import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {n: p.clone().detach() for n, p in model.named_parameters()}

    def update(self, model):
        with torch.no_grad():
            for n, p in model.named_parameters():
                self.shadow[n] = self.decay * self.shadow[n] + (1 - self.decay) * p


model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
ema, swa = EMA(model, 0.99), AveragedModel(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = SWALR(opt, swa_lr=0.05)
for epoch in range(10):
    for x, y in loader:
        opt.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
        ema.update(model)
    swa.update_parameters(model)
    sched.step()
update_bn(loader, swa)
