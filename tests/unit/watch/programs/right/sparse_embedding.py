import torch
from torch import nn

torch.manual_seed(0)
words = nn.Embedding(50, 8, sparse=True)
head = nn.Linear(8, 50)
rows = torch.optim.SparseAdam(words.parameters(), lr=0.01)
dense = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(25):
    now, after = torch.randint(50, (2, 32))
    loss = nn.functional.cross_entropy(head(words(now)), after)
    rows.zero_grad()
    dense.zero_grad()
    loss.backward()
    rows.step()
    dense.step()
