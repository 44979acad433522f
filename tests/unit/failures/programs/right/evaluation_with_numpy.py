import numpy as np
import torch


@torch.no_grad()
def predict(model, loader, device):
    model.eval()
    outputs, targets = [], []
    for x, y in loader:
        logits = model(x.to(device))
        outputs.append(torch.softmax(logits, dim=1).cpu().numpy())
        targets.append(y.numpy())
    return np.concatenate(outputs), np.concatenate(targets)


def accuracy(model, loader, device):
    probabilities, labels = predict(model, loader, device)
    return (probabilities.argmax(axis=1) == labels).mean()
