import torch
import torch.nn as nn

hparams = dict(lr=30.0, momentum=0.9)  #! 17
model = nn.Linear(10, 1)
optimizer = torch.optim.SGD(model.parameters(), **hparams)
for x, y in data:
    optimizer.zero_grad()
    nn.MSELoss()(model(x), y).backward()
    optimizer.step()
