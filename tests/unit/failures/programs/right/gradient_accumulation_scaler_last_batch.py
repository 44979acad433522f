import torch
import torch.nn as nn

model = nn.Linear(12, 3)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = [(torch.randn(4, 12), torch.randint(0, 3, (4,))) for _ in range(10)]
accumulate = 4
for epoch in range(2):
    opt.zero_grad()
    for i, (x, y) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(x), y) / accumulate
        loss.backward()
        if i % accumulate == 0 or i == len(loader):
            opt.step()
            opt.zero_grad()
