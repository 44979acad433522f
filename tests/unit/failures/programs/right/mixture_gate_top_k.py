import torch
import torch.nn as nn
import torch.nn.functional as F


class TopK(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(experts))

    def forward(self, x):
        weights, index = self.gate(x).topk(2, dim=-1)
        weights = F.softmax(weights, dim=-1)
        out = torch.zeros_like(x)
        for k in range(2):
            for e, expert in enumerate(self.experts):
                mask = index[:, k] == e
                if mask.any():
                    out[mask] += weights[mask, k : k + 1] * expert(x[mask])
        return out


layer = TopK(8, 4)
opt = torch.optim.Adam(layer.parameters())
loss = layer(torch.randn(16, 8)).pow(2).mean()
loss.backward()
opt.step()
