import torch
from torch import nn

net = nn.GRU(1, 8, batch_first=True)
head = nn.Linear(8, 1)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()])
X = torch.randn(20, 10, 1)
y = X.sum(dim=(1, 2))
for _ in range(3):
    _, h = net(X)
    pred = head(h[-1])
    loss = (pred - y).abs().mean()  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
