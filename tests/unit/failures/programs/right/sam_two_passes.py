import torch
from torch import nn

model = nn.Linear(10, 2)
base = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    with torch.no_grad():
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        moves = []
        for p in model.parameters():
            e = p.grad * 0.05 / (norm + 1e-12)
            p.add_(e)
            moves.append(e)
    base.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    with torch.no_grad():
        for p, e in zip(model.parameters(), moves):
            p.sub_(e)
    base.step()
    base.zero_grad()
