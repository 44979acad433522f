import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
total = 0.0
for _ in range(8):
    x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
net.eval()
with torch.no_grad():
    print(net(x).argmax(1).eq(y).float().mean().item())
