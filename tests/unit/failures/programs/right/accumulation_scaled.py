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
