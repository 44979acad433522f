import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
opts = {
    "g": torch.optim.Adam(D.parameters(), lr=1e-3),  #! 19
    "d": torch.optim.Adam(D.parameters(), lr=1e-3),
}
for it in range(10):
    real = torch.randn(32, 2) + 2
    d = F.softplus(-D(real)).mean() + F.softplus(D(G(torch.randn(32, 2)).detach())).mean()
    opts["d"].zero_grad()
    d.backward()
    opts["d"].step()
    g = F.softplus(-D(G(torch.randn(32, 2)))).mean()
    opts["g"].zero_grad()
    g.backward()
    opts["g"].step()
