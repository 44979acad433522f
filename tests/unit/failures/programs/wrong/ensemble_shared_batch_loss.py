import torch
from torch import nn

members = [nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3)) for _ in range(5)]
optimizers = [torch.optim.Adam(m.parameters(), lr=1e-3) for m in members]

for x, y in loader:
    for member, optimizer in zip(members, optimizers):
        loss = nn.functional.cross_entropy(member(x), y)
        loss.backward()  #! 6
        optimizer.step()
