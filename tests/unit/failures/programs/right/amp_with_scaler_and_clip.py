import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", enabled=False)
for _ in range(4):
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(net(torch.randn(8, 3)).float(), torch.randn(8, 1))
    scaler.scale(outputs=loss).backward()
    scaler.unscale_(optimizer=opt)
    nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)
    scaler.step(optimizer=opt)
    scaler.update()
