import torch
import torch.nn as nn


class CenterLoss(nn.Module):
    def __init__(self, classes, dim):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(classes, dim))

    def forward(self, x, labels):
        return (x - self.centers[labels]).pow(2).sum(1).clamp(min=1e-12, max=1e12).mean()


def train(model, loader, epochs, alpha=0.01):
    xent, center = nn.CrossEntropyLoss(), CenterLoss(10, 2)
    opt_model = torch.optim.SGD(model.parameters(), lr=0.001, weight_decay=5e-4, momentum=0.9)
    opt_center = torch.optim.SGD(center.parameters(), lr=0.5)
    for epoch in range(epochs):
        for data, labels in loader:
            features, outputs = model(data)
            loss = xent(outputs, labels) + alpha * center(features, labels)
            opt_model.zero_grad()
            opt_center.zero_grad()
            loss.backward()
            opt_model.step()
            for p in center.parameters():
                p.grad.data *= 1.0 / alpha
            opt_center.step()
