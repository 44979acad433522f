import torch
import torch.nn as nn

model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
l1_weight = 1e-4
for x, y in loader:
    optimizer.zero_grad()
    ce = nn.functional.cross_entropy(model(x), y).item()  #! 13
    l1 = sum(p.abs().sum() for p in model.parameters())
    loss = ce + l1_weight * l1
    loss.backward()
    optimizer.step()
