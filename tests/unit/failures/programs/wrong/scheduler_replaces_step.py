import torch
import torch.nn as nn
from torch.optim.lr_scheduler import OneCycleLR

net = nn.Sequential(nn.Conv1d(1, 16, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
scheduler = OneCycleLR(optimizer, max_lr=1e-2, total_steps=10 * len(loader))

for epoch in range(10):
    for signal, label in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(signal), label)
        optimizer.step()  #! 18
        loss.backward()
        scheduler.step()
