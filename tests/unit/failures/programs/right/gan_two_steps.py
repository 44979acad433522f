import torch
import torch.nn as nn

G = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opts = {"g": torch.optim.Adam(G.parameters(), 2e-4), "d": torch.optim.Adam(D.parameters(), 2e-4)}
bce = nn.BCEWithLogitsLoss()
for real in loader:
    z = torch.randn(len(real), 16)
    fake = G(z)
    opts["d"].zero_grad()
    d_loss = bce(D(real), torch.ones(len(real), 1)) + bce(D(fake.detach()), torch.zeros(len(real), 1))
    d_loss.backward()
    opts["d"].step()
    opts["g"].zero_grad()
    g_loss = bce(D(fake), torch.ones(len(real), 1))
    g_loss.backward()
    opts["g"].step()
