import torch
from torch import nn

net = nn.Linear(2, 1)
params = net.parameters()
print("count", sum(p.numel() for p in params))
opt = torch.optim.SGD(params, lr=0.1)  #! 19
for x, y in [(torch.randn(3, 2), torch.rand(3, 1))] * 2:
    opt.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    opt.step()
