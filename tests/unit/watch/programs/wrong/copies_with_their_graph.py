import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
copies = [parameter.detach().clone() for parameter in net.parameters()]
for _ in range(10):
    loss = net(torch.randn(8, 3)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    copies = [0.9 * old + 0.1 * new for old, new in zip(copies, net.parameters())]  #! 10
print(len(copies))
