import torch
from torch import nn

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
for _ in range(4):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
p = net(x).exp()
p /= p.sum(1, keepdim=True)
print(p.max(1).values.tolist())
