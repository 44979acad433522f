import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(60, 4), torch.randn(60, 1)
for epoch in range(3):
    opt.zero_grad()
    for step, (a, b) in enumerate(zip(x.split(10), y.split(10))):
        (nn.functional.mse_loss(net(a), b) / 4).backward()
        if step % 4 == 3:
            opt.step()  #! 24
            opt.zero_grad()
