import torch
from torch import nn


class Meter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n  #! 10
        self.count += n

    @property
    def average(self):
        return self.sum / self.count


def evaluate(model, loader, criterion, device):
    model.eval()
    meter = Meter()
    for images, target in loader:
        output = model(images.to(device))
        loss = criterion(output, target.to(device))
        meter.update(loss, images.size(0))
    return meter.average


if __name__ == "__main__":
    device = torch.device("cpu")
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)).to(device)
    print(evaluate(net, val_loader, nn.CrossEntropyLoss(), device))
