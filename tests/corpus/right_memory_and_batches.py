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


# %% probabilities then nll (read)
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np
import matplotlib.pyplot as plt


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 20)
        self.fc2 = nn.Linear(20, 3)

    def forward(self, x):
        return F.log_softmax(self.fc2(torch.tanh(self.fc1(x))), -1)

    def predict_proba(self, x):
        with torch.no_grad():
            return self.forward(x).exp().numpy()


X, Y = make_spiral()
Xt, Yt = torch.FloatTensor(X), torch.LongTensor(Y)
net, losses = Net(), []
opt = optim.SGD(net.parameters(), 1.0)
for _ in range(1000):
    opt.zero_grad()
    l = F.nll_loss(net(Xt), Yt)
    l.backward()
    opt.step()
    losses.append(float(l))
grid = np.stack(np.meshgrid(np.linspace(-2, 2, 50), np.linspace(-2, 2, 50)), -1).reshape(-1, 2)
plt.contourf(net.predict_proba(torch.FloatTensor(grid))[:, 0].reshape(50, 50))
plt.plot(np.log(losses))


# %% rate range
import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
start = copy.deepcopy(net.state_dict())
opt = torch.optim.SGD(net.parameters(), lr=1e-4)
losses = []
for _ in range(20):
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(net(x), x.square().sum(1, keepdim=True))
    losses.append(loss.item())
    opt.zero_grad()
    loss.backward()
    opt.step()
    opt.param_groups[0]["lr"] *= 1.7
net.load_state_dict(start)
