import torch
import torch.nn as nn
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
for p in net[0].parameters():
    p.requires_grad = False
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)  #! 19
x, y = torch.randn(64, 4), torch.randint(3, (64,))
for epoch in range(12):
    if epoch == 4:
        for p in net.parameters():
            p.requires_grad = True
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
