import torch
import torch.nn as nn

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    losses = [net(torch.randn(4)).pow(2).sum() for _ in range(4)]
    loss = torch.tensor(losses, requires_grad=True).mean()  #! 4
    opt.zero_grad()
    loss.backward()
    opt.step()
