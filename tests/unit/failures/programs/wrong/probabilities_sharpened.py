import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 3, (32,))
for _ in range(3):
    p = torch.softmax(net(x), 1)  #! 25
    p = p / 0.5
    loss = F.cross_entropy(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
