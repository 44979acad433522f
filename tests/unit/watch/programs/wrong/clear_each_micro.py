import torch
import torch.nn as nn
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
accum = 4
for step in range(16):
    opt.zero_grad()  #! 24
    loss = nn.functional.mse_loss(net(torch.randn(8, 4)), torch.zeros(8, 1)) / accum
    loss.backward()
    if (step + 1) % accum == 0:
        opt.step()
