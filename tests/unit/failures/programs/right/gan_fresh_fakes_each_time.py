import torch
from torch import nn

g = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
d = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
g_opt = torch.optim.Adam(g.parameters(), 1e-3)
d_opt = torch.optim.Adam(d.parameters(), 1e-3)
loss_fn = nn.BCEWithLogitsLoss()
for step in range(5000):
    real = sample_real(64)
    with torch.no_grad():
        fake = g(torch.randn(64, 8))
    d_loss = loss_fn(d(real), torch.ones(64, 1)) + loss_fn(d(fake), torch.zeros(64, 1))
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    fake = g(torch.randn(64, 8))
    g_loss = loss_fn(d(fake), torch.ones(64, 1))
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
