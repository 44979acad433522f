import torch
import torch.nn as nn


def train_one_epoch(model, loader, optimizer, criterion):
    model.train()
    for inputs, targets in loader:
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.zero_grad()  #! 18
        optimizer.step()


model = nn.Linear(4, 2)
loader = [(torch.randn(8, 4), torch.randint(0, 2, (8,))) for _ in range(3)]
train_one_epoch(model, loader, torch.optim.SGD(model.parameters(), lr=0.1), nn.CrossEntropyLoss())
