import torch
from torch import nn

x = torch.randn(100, 5)
rank = x @ torch.tensor([1.0, -1.0, 0.5, 0.0, 2.0])
scorer = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(scorer.parameters(), lr=5e-3)
for step in range(100):
    score = scorer(x)
    margin = score - score.squeeze(1)
    better = (rank[:, None] > rank[None, :]).float()
    loss = (better * nn.functional.softplus(-margin)).sum() / better.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
