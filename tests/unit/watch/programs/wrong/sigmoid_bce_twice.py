import torch
import torch.nn as nn
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randint(2, (64, 1)).float()
for _ in range(10):
    out = torch.sigmoid(net(x))  #! 25
    loss = nn.functional.binary_cross_entropy(out, y)
    opt.zero_grad(); loss.backward(); opt.step()
