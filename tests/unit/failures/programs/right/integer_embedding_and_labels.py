import torch
import torch.nn as nn

words = torch.tensor([[1, 2, 3], [4, 5, 6]])
labels = torch.tensor([0, 1])
embedding = nn.Embedding(10, 8)
head = nn.Linear(8, 2)
opt = torch.optim.Adam([*embedding.parameters(), *head.parameters()], lr=0.01)
for _ in range(10):
    loss = nn.functional.cross_entropy(head(embedding(words).mean(dim=1)), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
