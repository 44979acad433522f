import torch
from torch import nn
from torch.cuda.amp import GradScaler, autocast

model = nn.Linear(512, 10).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = GradScaler()
accum = 4
for epoch in range(4):
    optimizer.zero_grad()
    for i, (inputs, targets) in enumerate(loader):
        with autocast():
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss = loss / accum
        scaler.scale(loss).backward()
        if (i + 1) % accum == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
