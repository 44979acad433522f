# %% accumulation scaled
import torch


def fit(model, loader, optimizer, criterion, accumulate=4):
    model.train()
    optimizer.zero_grad()
    for i, (x, y) in enumerate(loader, start=1):
        loss = criterion(model(x), y) / accumulate
        loss.backward()
        if i % accumulate == 0 or i == len(loader):
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


# %% amp
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu")
for _ in range(6):
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1))
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()


# %% amp or not
import torch
from torch import nn


def train(model, loader, optimizer, scaler=None):
    for x, y in loader:
        optimizer.zero_grad()
        if scaler is not None:
            with torch.autocast("cuda"):
                loss = nn.functional.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()


# %% amp or plain two arms
import torch
import torch.nn as nn

use_amp = torch.cuda.is_available()
device = "cuda" if use_amp else "cpu"
model = nn.Linear(10, 2).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(enabled=use_amp)
for _ in range(5):
    x, y = torch.randn(8, 10, device=device), torch.randint(0, 2, (8,), device=device)
    opt.zero_grad()
    with torch.autocast(device, enabled=use_amp):
        loss = nn.functional.cross_entropy(model(x), y)
    if use_amp:
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    else:
        loss.backward()
        opt.step()


# %% amp plain (read)
import torch
from torch import nn

device = "cuda"
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(7200, 10)).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device)
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    opt.zero_grad(set_to_none=True)
    with torch.autocast(device_type=device, dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()


# %% codes kept for one turn
import torch
from torch import nn

squeeze, stretch = nn.Linear(9, 2), nn.Linear(2, 9)
optimizer = torch.optim.Adam([*squeeze.parameters(), *stretch.parameters()])
kept = []
for turn in range(40):
    codes, losses = [], []
    for part in torch.randn(16, 9).split(4):
        codes.append(torch.tanh(squeeze(part)))
        losses.append((stretch(codes[-1]) - part).pow(2).mean())
    optimizer.zero_grad()
    torch.stack(losses).mean().backward()
    optimizer.step()
    last = []
    for code in codes:
        last.append(code)
    kept.append(torch.cat(last).detach())
print(torch.cat(kept).shape)


# %% ensemble losses in list
import torch
from torch import nn

members = nn.ModuleList([nn.Linear(3, 1) for _ in range(5)])
opt = torch.optim.Adam(members.parameters())
for x, y in [(torch.randn(4, 3), torch.randn(4, 1))] * 3:
    opt.zero_grad()
    losses = {i: nn.functional.mse_loss(member(x), y) for i, member in enumerate(members)}
    for loss in losses.values():
        loss.backward()
    opt.step()


# %% evaluation totals under no grad (read)
import torch
import torch.nn as nn

model = nn.Linear(3, 1)
loss_fn = nn.MSELoss()
total = 0
model.eval()
with torch.no_grad():
    for x, y in loader:
        total += loss_fn(model(x), y)
print(total / len(loader))


# %% kfold training (read)
import torch
from sklearn.model_selection import KFold
from torch import nn


def reset_weights(m):
    if hasattr(m, "reset_parameters"):
        m.reset_parameters()


results = {}
for fold, (train_ids, test_ids) in enumerate(KFold(5).split(dataset)):
    network = nn.Sequential(nn.Flatten(), nn.Linear(784, 50), nn.ReLU(), nn.Linear(50, 10))
    network.apply(reset_weights)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)
    loss_function = nn.CrossEntropyLoss()
    for epoch in range(3):
        current_loss = 0.0
        for i, data in enumerate(make_loader(train_ids), 0):
            inputs, targets = data
            optimizer.zero_grad()
            outputs = network(inputs)
            loss = loss_function(outputs, targets)
            loss.backward()
            optimizer.step()
            current_loss += loss.item()
            if i % 500 == 499:
                print(current_loss / 500)
                current_loss = 0.0
    correct, total = 0, 0
    with torch.no_grad():
        for inputs, targets in make_loader(test_ids):
            _, predicted = torch.max(network(inputs).data, 1)
            total += targets.size(0)
            correct += (predicted == targets).sum().item()
    results[fold] = 100.0 * correct / total


# %% optimizer in backward hooks
import torch
from torch import nn

net = nn.Linear(3, 1)
optimizers = {p: torch.optim.SGD([p], lr=0.01) for p in net.parameters()}


def hook(p):
    optimizers[p].step()
    optimizers[p].zero_grad()


for p in net.parameters():
    p.register_post_accumulate_grad_hook(hook)
for _ in range(3):
    nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1)).backward()


# %% plain classifier (read)
import torch
import torch.nn as nn
from torch.utils.data import DataLoader

model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(5):
    running = 0.0
    for images, labels in DataLoader(train_set, batch_size=64, shuffle=True):
        optimizer.zero_grad()
        outputs = model(images)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running += loss.item() * images.size(0)
    print(epoch, running / len(train_set))


# %% token sums
"""Accumulated token sums: the gradients are divided by the number of tokens before the step."""
import torch
from torch import nn

torch.manual_seed(10)
net = nn.Sequential(nn.Embedding(9, 8), nn.Linear(8, 9))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
rows = [torch.randint(0, 9, (4, int(n))) for n in torch.randint(3, 9, (24,))]
for begin in range(0, 24, 4):
    tokens = 0
    opt.zero_grad()
    for ids in rows[begin : begin + 4]:
        logits = net(ids[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="sum")
        loss.backward()
        tokens += ids[:, 1:].numel()
    for p in net.parameters():
        p.grad /= tokens
    opt.step()


# %% training generator (read)
import torch
from torch import nn


def training(model, opt, loader, epochs):
    for epoch in range(epochs):
        for x, y in loader:
            opt.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            yield epoch, loss.detach()


net = nn.Linear(4, 3)
history = []
for epoch, value in training(net, torch.optim.Adam(net.parameters()), loader, 3):
    history.append(value)


# %% labels shaped like scores of an earlier pass
import torch
from torch import nn

torch.manual_seed(0)
judge = nn.Linear(3, 1)
opt = torch.optim.SGD(judge.parameters(), lr=0.1)
bce = nn.BCEWithLogitsLoss()
for real in torch.randn(6, 8, 3):
    opt.zero_grad()
    scores = judge(real)
    bce(scores, torch.ones_like(scores)).backward()
    bce(judge(torch.randn(8, 3)), torch.zeros_like(scores)).backward()
    opt.step()
