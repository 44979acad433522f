import torch
import torch.nn as nn


class Recurrent(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.eye(n) * 0.5)

    def forward(self, x):
        steps, n = x.shape
        h = torch.zeros(steps + 1, n)
        for t in range(steps):
            h[t + 1] = torch.tanh(x[t] + h[t] @ self.w)  #! 1
        return h[-1]
