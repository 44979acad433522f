import torch
from torch import nn

torch.manual_seed(0)
table, head = nn.Embedding(8, 3, padding_idx=0), nn.Linear(3, 2)
with torch.no_grad():
    row = table.weight[1]
    row.fill_(0.5)
    row.mul_(2)
opt = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    ids = torch.tensor([[1, 4, 0], [2, 0, 0]])
    keep = (ids != 0).float().unsqueeze(-1)
    pooled = (table(ids) * keep).sum(1) / keep.sum(1)
    loss = nn.functional.cross_entropy(head(pooled), torch.tensor([0, 1]))
    opt.zero_grad()
    loss.backward()
    opt.step()
assert table.weight[0].tolist() == [0.0, 0.0, 0.0]  # the padding
