import torch
import torch.nn as nn
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu")
for step in range(16):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(net(torch.randn(8, 4)), torch.zeros(8, 1))
    scaler.scale(loss).backward()  #! 24
    if (step + 1) % 4 == 0:
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
