import torch, torch.nn as nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1, maximize=True)  #! 18
x = torch.randn(8, 3)
y = torch.randn(8, 1)
for i in range(5):
    loss = ((net(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
