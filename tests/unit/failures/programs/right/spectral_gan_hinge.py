import torch
import torch.nn as nn
import torch.nn.functional as F

G = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2))
D = nn.Sequential(nn.utils.spectral_norm(nn.Linear(2, 64)), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.0, 0.9))
for step in range(20):
    for _ in range(2):
        with torch.no_grad():
            fake = G(torch.randn(32, 16))
        loss_d = F.relu(1 - D(torch.randn(32, 2))).mean() + F.relu(1 + D(fake)).mean()
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
    loss_g = -D(G(torch.randn(32, 16))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
