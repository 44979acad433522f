import torch
import torch.nn as nn

torch.manual_seed(0)
xb, yb = next(iter(loader))
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
losses = []
for step in range(200):
    logits = model(xb)
    loss = nn.functional.cross_entropy(logits, yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
print(torch.stack(losses).tolist())
