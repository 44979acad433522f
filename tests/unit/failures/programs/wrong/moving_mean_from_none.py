import torch
import torch.nn as nn

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
smooth = None
for _ in range(30):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    smooth = loss if smooth is None else 0.9 * smooth + 0.1 * loss  #! 10
print(smooth)
