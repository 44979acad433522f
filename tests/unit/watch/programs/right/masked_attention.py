import torch
import torch.nn as nn
torch.manual_seed(0)
q, k = nn.Linear(4, 4), nn.Linear(4, 4)
opt = torch.optim.SGD([*q.parameters(), *k.parameters()], lr=0.01)
for step in range(5):
    x = torch.randn(2, 5, 4)
    mask = torch.ones(5, 5, dtype=torch.bool).triu(1)
    scores = (q(x) @ k(x).transpose(1, 2)).masked_fill(mask, float("-inf"))
    loss = (scores.softmax(-1) @ x - x.mean(1, keepdim=True)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
