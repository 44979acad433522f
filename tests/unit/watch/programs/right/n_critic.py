import torch
import torch.nn as nn
torch.manual_seed(0)
g, d = nn.Linear(3, 2), nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
go, do = torch.optim.RMSprop(g.parameters(), lr=1e-3), torch.optim.RMSprop(d.parameters(), lr=1e-3)
for step in range(20):
    real, z = torch.randn(32, 2) + 2, torch.randn(32, 3)
    dl = d(g(z).detach()).mean() - d(real).mean()
    do.zero_grad(); dl.backward(); do.step()
    for p in d.parameters():
        p.data.clamp_(-0.1, 0.1)
    if step % 5 == 4:
        gl = -d(g(z)).mean()
        go.zero_grad(); gl.backward(); go.step()
