from itertools import islice

import torch
from torch.cuda.amp import GradScaler, autocast


def train_one_epoch(model, loader, criterion, optimizer, scaler, accum_steps=8):
    model.train()
    optimizer.zero_grad()
    for step, (inputs, targets) in enumerate(loader):
        with autocast():
            outputs = model(inputs.cuda(non_blocking=True))
            loss = criterion(outputs, targets.cuda(non_blocking=True))
        scaler.scale(loss).backward()  #! 24
        if (step + 1) % accum_steps == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
