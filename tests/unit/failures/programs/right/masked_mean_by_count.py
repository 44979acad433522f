import torch
import torch.nn as nn

model = nn.GRU(6, 12, batch_first=True)
head = nn.Linear(12, 1)
opt = torch.optim.Adam([*model.parameters(), *head.parameters()])
for _ in range(4):
    x, y = torch.randn(8, 20, 6), torch.randn(8, 20)
    mask = (torch.rand(8, 20) > 0.3).float()
    pred = head(model(x)[0]).squeeze(-1)
    n = mask.sum().item()
    loss = ((pred - y) ** 2 * mask).sum() / n
    opt.zero_grad()
    loss.backward()
    opt.step()
