import torch
from torch import nn

net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x, partner, same = torch.randn(64, 5), torch.randn(64, 5), torch.rand(64) > 0.5
for step in range(100):
    gap = net(x) - net(partner)
    squared = (gap**2).sum(1)
    distance = torch.where(squared > 0, torch.sqrt(squared + 1e-9), 0.5 * squared)
    loss = torch.where(same, distance, (1 - distance).clamp(min=0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
