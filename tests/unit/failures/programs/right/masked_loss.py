import torch
import torch.nn as nn

net = nn.Linear(6, 4)
criterion = nn.CrossEntropyLoss(reduction="none")
opt = torch.optim.Adam(net.parameters())
for x, y in loader:
    mask = (y != -1).float()
    per_item = criterion(net(x), y.clamp(min=0))
    loss = (per_item * mask).sum() / mask.sum().clamp(min=1)
    opt.zero_grad()
    loss.backward()
    opt.step()
