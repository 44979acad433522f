import numpy as np
import torch
from torch.cuda import amp


def train(hyp, model, ema, compute_loss, train_loader, optimizer, scheduler, epochs, device, nbs=64, batch_size=16):
    accumulate = max(round(nbs / batch_size), 1)
    nb, last_opt_step = len(train_loader), -1
    warmup = max(round(3 * nb), 100)
    scaler = amp.GradScaler(enabled=device.type != "cpu")
    for epoch in range(epochs):
        model.train()
        mean_loss = torch.zeros(3, device=device)
        optimizer.zero_grad()
        for i, (images, targets) in enumerate(train_loader):
            ni = i + nb * epoch
            images = images.to(device).float() / 255
            if ni <= warmup:
                accumulate = max(1, np.interp(ni, [0, warmup], [1, nbs / batch_size]).round())
                for x in optimizer.param_groups:
                    x["lr"] = np.interp(ni, [0, warmup], [0.1, x["initial_lr"]])
            with amp.autocast():
                pred = model(images)
                loss, loss_items = compute_loss(pred, targets.to(device))
                loss = loss * len(images) / nbs
            scaler.scale(loss).backward()
            if ni - last_opt_step >= accumulate:
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
                if ema:
                    ema.update(model)
                last_opt_step = ni
            mean_loss = (mean_loss * i + loss_items) / (i + 1)
        scheduler.step()
