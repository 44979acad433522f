import torch
from torch import nn

torch.manual_seed(0)
net, x = nn.Linear(4, 2), torch.randn(60, 4)
temperature = torch.ones(1, requires_grad=True)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)  #! 19
for _ in range(12):
    loss = nn.functional.cross_entropy(net(x) / temperature, (x[:, 0] > 0).long())
    opt.zero_grad()
    temperature.grad = None
    loss.backward()
    opt.step()
