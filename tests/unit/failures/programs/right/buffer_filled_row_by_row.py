import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.cell = nn.GRUCell(n, n)
        self.out = nn.Linear(n, n)

    def forward(self, x, steps):
        h = torch.zeros(x.size(0), x.size(1))
        outputs = torch.zeros(steps, x.size(0), x.size(1))
        for t in range(steps):
            h = self.cell(x, h)
            x = self.out(h)
            outputs[t] = x
        return outputs
