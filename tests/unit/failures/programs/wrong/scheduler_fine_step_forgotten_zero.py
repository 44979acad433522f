import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR


def build():
    return nn.Sequential(nn.Linear(2, 32), nn.GELU(), nn.Linear(32, 2))


model = build()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = CosineAnnealingLR(optimizer, 100)
for epoch in range(100):
    for batch in loader:
        logits = model(batch["x"])
        loss = nn.functional.cross_entropy(logits, batch["y"])
        loss.backward()  #! 6
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    scheduler.step()
