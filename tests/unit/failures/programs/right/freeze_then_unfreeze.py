import torch
from torch import nn
from torchvision import models


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad = flag


def fit(model, optimizer, loader, epochs):
    loss_fn = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            optimizer.step()


model = models.resnet50(weights="DEFAULT")
set_trainable(model, False)
model.fc = nn.Linear(model.fc.in_features, 10)
fit(model, torch.optim.Adam(model.fc.parameters(), lr=1e-3), loader, 3)

set_trainable(model, True)
groups = [
    {"params": model.fc.parameters(), "lr": 1e-3},
    {"params": [p for n, p in model.named_parameters() if not n.startswith("fc.")], "lr": 1e-5},
]
fit(model, torch.optim.AdamW(groups), loader, 10)
