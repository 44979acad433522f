import torch
import torch.nn as nn
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for size in (8, 8, 1):
    x = torch.randn(size, 4)
    h = net(x)
    h = (h - h.mean(0)) / h.std(0)  #! 9
    loss = h.pow(4).mean()
    opt.zero_grad(); loss.backward(); opt.step()
