import torch


def validate(model, loader, criterion):
    model.eval()
    val_loss = 0
    for x, y in loader:
        out = model(x)  #! 12
        val_loss += criterion(out, y)  #! 10
    return val_loss / len(loader)
