import torch
import torch.nn as nn


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.bias = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        x = self.fc(x)
        x += self.bias
        x = x.relu_()
        return x.sum(dim=1)
