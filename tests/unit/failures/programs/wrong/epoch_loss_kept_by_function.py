import torch


def train_epoch(model, loader, criterion, optimizer, device):
    model.train()
    epoch_loss = 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        y_hat = model(x)
        loss = criterion(y_hat, y)
        loss.backward()
        optimizer.step()
        epoch_loss = epoch_loss + loss  #! 10
    return epoch_loss / len(loader)
