import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).requires_grad_(False)
delta = nn.Parameter(torch.zeros(8))
opt = torch.optim.Adam([delta], lr=1e-2)
x, y = torch.randn(32, 8), torch.randint(3, (32,))
for _ in range(10):
    loss = -nn.functional.cross_entropy(net(x + delta), y)
    opt.zero_grad(); loss.backward(); opt.step()
