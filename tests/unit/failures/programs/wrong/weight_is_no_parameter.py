import torch
import torch.nn as nn


class LinearLayer(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = torch.randn(n_in, n_out, requires_grad=True)  #! 19
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return x @ self.weight + self.bias
