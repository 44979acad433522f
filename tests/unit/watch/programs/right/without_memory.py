"""Sparse tensors, and those on "meta", have no values at an address; a complex result is no plain number."""

import torch
from torch import nn

torch.manual_seed(0)
table = nn.Embedding(50, 4, sparse=True)
opt = torch.optim.SparseAdam(table.parameters())
for _ in range(4):
    opt.zero_grad()
    table(torch.randint(0, 50, (8, 3))).pow(2).mean().backward()
    opt.step()

edges = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2)).requires_grad_()
edges.data = edges.data * 2
torch.sparse.mm(edges, torch.ones(2, 2)).sum().backward()

with torch.device("meta"):
    shapes = nn.Linear(1000, 1000)
shapes(torch.empty(2, 1000, device="meta")).sum().backward()

z = torch.randn(3, dtype=torch.cfloat, requires_grad=True)
(z * z).sum().backward(torch.tensor(1 + 0j))
