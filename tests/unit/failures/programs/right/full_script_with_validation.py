import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self, d_in, classes):
        super().__init__()
        self.fc1 = nn.Linear(d_in, 64)
        self.bn = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, classes)

    def forward(self, x):
        return self.fc2(F.relu(self.bn(self.fc1(x))))


def run_epoch(model, loader, optimizer=None):
    training = optimizer is not None
    model.train(training)
    total, hits, seen = 0.0, 0, 0
    with torch.set_grad_enabled(training):
        for x, y in loader:
            logits = model(x)
            loss = F.cross_entropy(logits, y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(x)
            hits += (logits.argmax(1) == y).sum().item()
            seen += len(x)
    return total / seen, hits / seen


data = TensorDataset(torch.randn(500, 10), torch.randint(0, 3, (500,)))
train_set, val_set = random_split(data, [400, 100])
model = Net(10, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
best = float("inf")
patience = 0
for epoch in range(50):
    train_loss, train_acc = run_epoch(model, DataLoader(train_set, 32, shuffle=True), optimizer)
    val_loss, val_acc = run_epoch(model, DataLoader(val_set, 100))
    if val_loss < best:
        best, patience = val_loss, 0
        torch.save(model.state_dict(), "best.pt")
    else:
        patience += 1
        if patience > 5:
            break
