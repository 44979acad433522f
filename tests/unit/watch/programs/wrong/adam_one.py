import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
opt = torch.optim.Adam(net.parameters(), lr=2.0)  #! 17
c = torch.randn(3, 10)
y = torch.randint(3, (256,))
x = c[y] + torch.randn(256, 10)
for _ in range(40):
    i = torch.randperm(256)[:64]
    loss = nn.functional.cross_entropy(net(x[i]), y[i])
    opt.zero_grad(); loss.backward(); opt.step()
