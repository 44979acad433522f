import torch
import torch.nn as nn

model = nn.Linear(6, 2)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
ema_loss, best = None, float("inf")
for step in range(30):
    loss = nn.functional.cross_entropy(model(torch.randn(16, 6)), torch.randint(0, 2, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema_loss = loss.item() if ema_loss is None else 0.9 * ema_loss + 0.1 * loss.item()
    best = min(best, float(loss))
print(ema_loss, best)
