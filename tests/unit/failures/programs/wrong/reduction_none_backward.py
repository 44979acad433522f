import torch
import torch.nn as nn

model = nn.Linear(12, 4)
criterion = nn.CrossEntropyLoss(reduction="none")
opt = torch.optim.SGD(model.parameters(), lr=0.05)


def train_one_epoch(loader):
    for features, labels in loader:
        opt.zero_grad()
        losses = criterion(model(features), labels)  #! 3
        losses.backward()
        opt.step()


for epoch in range(3):
    train_one_epoch(loader)
