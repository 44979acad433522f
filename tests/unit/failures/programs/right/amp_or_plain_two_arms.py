import torch
import torch.nn as nn

use_amp = torch.cuda.is_available()
device = "cuda" if use_amp else "cpu"
model = nn.Linear(10, 2).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(enabled=use_amp)
for _ in range(5):
    x, y = torch.randn(8, 10, device=device), torch.randint(0, 2, (8,), device=device)
    opt.zero_grad()
    with torch.autocast(device, enabled=use_amp):
        loss = nn.functional.cross_entropy(model(x), y)
    if use_amp:
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    else:
        loss.backward()
        opt.step()
