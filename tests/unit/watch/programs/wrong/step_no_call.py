import torch
import torch.nn as nn
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randint(3, (64,))
for _ in range(20):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step  #! 18
