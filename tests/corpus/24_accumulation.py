# %% accumulate four
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(16):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    loss.backward()  #! 24
    if (i + 1) % 4 == 0:
        opt.step()
        opt.zero_grad()


# %% amp accum
import torch
import torch.nn as nn
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu")
for step in range(16):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(net(torch.randn(8, 4)), torch.zeros(8, 1))
    scaler.scale(loss).backward()  #! 24
    if (step + 1) % 4 == 0:
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()


# %% amp accumulates undivided
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
        scaler.scale(loss).backward()  #! read 24
        if (step + 1) % accum_steps == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


# %% cleared in a helper
import torch
from torch import nn

torch.manual_seed(13)
net, every = nn.Linear(4, 1), 3
opt = torch.optim.SGD(net.parameters(), lr=0.02)


def gradients_of(x):
    opt.zero_grad()  #! 24
    loss = nn.functional.l1_loss(net(x), x.sum(1, keepdim=True))
    (loss / every).backward()


for number, x in enumerate(torch.randn(12, 16, 4), 1):
    gradients_of(x)
    if number % every == 0:
        opt.step()


# %% emptied at each part of a group (read)
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()  #! 24
    loss = criterion(model(x), y) / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()


# %% group with a last step undivided (read)
acc = 4
for epoch in range(3):
    for step, batch in enumerate(loader):
        out = model(**batch)
        loss = F.cross_entropy(out.logits, batch["labels"])
        accelerator.backward(loss)  #! 24
        if step % acc == 0 or step == len(loader) - 1:
            optimizer.step()
            optimizer.zero_grad()


# %% leftover batches
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(60, 4), torch.randn(60, 1)
for epoch in range(3):
    opt.zero_grad()
    for step, (a, b) in enumerate(zip(x.split(10), y.split(10))):
        (nn.functional.mse_loss(net(a), b) / 4).backward()
        if step % 4 == 3:
            opt.step()  #? 24
            opt.zero_grad()


# %% mean in the report only
import torch
from torch import nn

PLACES = 5
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for turn in range(30):
    opt.zero_grad()
    shown = 0.0
    for place in range(PLACES):
        rows = torch.randn(10, 3) + place
        error = nn.functional.l1_loss(net(rows), rows.mean(1, keepdim=True))
        error.backward()  #? 24
        shown += error.item() / PLACES
    opt.step()
    print(turn, shown)


# %% scaled losses of eight batches (read)
for i, batch in enumerate(loader):
    with torch.autocast("cuda"):
        loss = F.cross_entropy(model(batch[0]), batch[1])
    scaler.scale(loss).backward()  #! 24
    if i % 8 == 7:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
