import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(50, 4), torch.randint(0, 3, (50,))
for epoch in range(10):
    net.train()
    hits = (net(x).argmax(dim=1) == y).float()  #! 21
    loss = 1 - hits.mean() + 1e-4 * sum(w.pow(2).sum() for w in net.parameters())
    opt.zero_grad()
    loss.backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        print((net(x).argmax(1) == y).float().mean().item())
