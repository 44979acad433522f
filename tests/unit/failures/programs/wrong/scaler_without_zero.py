import torch
from torch import nn
from torch.cuda.amp import GradScaler, autocast

model = nn.Linear(512, 512).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
scaler = GradScaler()
for epoch in range(4):
    for inputs, targets in loader:
        with autocast():
            loss = nn.functional.mse_loss(model(inputs), targets)
        scaler.scale(loss).backward()  #! 6
        scaler.step(optimizer)
        scaler.update()
