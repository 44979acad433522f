import torch
from torch import nn

torch.manual_seed(0)
words = nn.Embedding(10, 4, padding_idx=0)
head = nn.Linear(4, 1)
optimizer = torch.optim.SGD([*words.parameters(), *head.parameters()], lr=0.1)
ids, target = torch.randint(1, 10, (8,)), torch.randn(8, 1)
for turn in range(20):
    optimizer.zero_grad()
    loss = ((head(words(ids)) - target) ** 2).sum()
    loss.backward()
    for p in head.parameters():
        p.grad /= len(ids)
    words.weight.grad[:5] = 0
    words.weight.grad = torch.clamp(words.weight.grad, -1, 1)
    if turn < 10:
        head.bias.grad = None
    optimizer.step()

for turn in range(20):
    optimizer.zero_grad()
    loss = ((head(words(ids)) - target) ** 2).mean()
    loss.backward()
    noisy = [p.grad + 0.01 * torch.randn_like(p.grad) for p in head.parameters()]
    for p, gradient in zip(head.parameters(), noisy):
        p.grad = gradient
    head.bias.grad.zero_()
    optimizer.step()
