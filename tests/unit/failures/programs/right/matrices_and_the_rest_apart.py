import torch
import torch.nn.functional as F
from torch import nn

net = nn.Sequential(nn.Conv1d(1, 8, 5), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 3))
fast = torch.optim.SGD([{"params": [p for p in net.parameters() if p.ndim == 2]}], lr=0.02)
slow = torch.optim.AdamW([p for p in net.parameters() if p.ndim != 2], lr=1e-3)
for _ in range(50):
    x, y = torch.randn(16, 1, 40), torch.randint(0, 3, (16,))
    fast.zero_grad()
    slow.zero_grad()
    F.cross_entropy(net(x), y).backward()
    fast.step()
    slow.step()
