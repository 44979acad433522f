import torch
import torch.nn as nn

model = nn.Linear(10, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1e-3 * min(1, s / 100))
for _ in range(5):
    loss = nn.functional.cross_entropy(model(torch.randn(8, 10)), torch.randint(0, 2, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
