"""Accumulated token sums: the gradients are divided by the number of tokens before the step."""
import torch
from torch import nn

torch.manual_seed(10)
net = nn.Sequential(nn.Embedding(9, 8), nn.Linear(8, 9))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
rows = [torch.randint(0, 9, (4, int(n))) for n in torch.randint(3, 9, (24,))]
for begin in range(0, 24, 4):
    tokens = 0
    opt.zero_grad()
    for ids in rows[begin : begin + 4]:
        logits = net(ids[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="sum")
        loss.backward()
        tokens += ids[:, 1:].numel()
    for p in net.parameters():
        p.grad /= tokens
    opt.step()
