import torch
import torch.nn.functional as F
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.Conv1d(1, 8, 5)
        self.norm = nn.BatchNorm1d(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.filters(x))).mean(2))


net = Small()
matrices = [p for p in net.parameters() if p.dim() == 2]  #! 19
vectors = [p for p in net.parameters() if p.dim() == 1]
opt = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}], lr=1e-3)
for _ in range(50):
    x, y = torch.randn(16, 1, 40), torch.randint(0, 3, (16,))
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
