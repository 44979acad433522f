import numpy as np
import torch
from torch import nn

criterion = nn.CrossEntropyLoss()


def mixup_data(x, y, alpha=1.0):
    lam = np.random.beta(alpha, alpha)
    index = torch.randperm(x.size(0))
    return lam * x + (1 - lam) * x[index], y, y[index], lam


def mixup_criterion(pred, a, b, lam):
    return lam * criterion(pred, a) + (1 - lam) * criterion(pred, b)


def train(net, loader, optimizer):
    net.train()
    train_loss, correct, total = 0, 0, 0
    for inputs, targets in loader:
        inputs, a, b, lam = mixup_data(inputs, targets)
        outputs = net(inputs)
        loss = mixup_criterion(outputs, a, b, lam)
        train_loss += loss.item()
        _, predicted = torch.max(outputs.data, 1)
        total += targets.size(0)
        correct += lam * predicted.eq(a.data).cpu().sum().float() + (1 - lam) * predicted.eq(b.data).cpu().sum().float()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return train_loss / total, correct / total
