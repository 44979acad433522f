import torch
import torch.nn.functional as F


def evaluate(model, loader):
    model.eval()
    total_loss = 0.0
    correct = 0
    for data, target in loader:
        output = model(data)  #! 12
        total_loss += F.cross_entropy(output, target, reduction="sum")  #! 10
        correct += (output.argmax(dim=1) == target).sum().item()
    return total_loss / len(loader.dataset), correct / len(loader.dataset)
