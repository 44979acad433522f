import torch
import torch.nn as nn
from torch.optim.swa_utils import SWALR, AveragedModel

model = nn.Linear(10, 2)
swa = AveragedModel(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = SWALR(opt, swa_lr=0.05)
for epoch in range(6):
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(torch.randn(8, 10)), torch.randint(0, 2, (8,)))
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch > 2:
        swa.update_parameters(model)
        sched.step()
