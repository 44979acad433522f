import torch
import torch.nn as nn

latent = 64
G = nn.Sequential(nn.Linear(latent, 256), nn.ReLU(), nn.Linear(256, 784), nn.Tanh())
D = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()

for epoch in range(20):
    for real, _ in loader:
        n = real.size(0)
        real = real.view(n, -1)
        fake = G(torch.randn(n, latent))

        opt_d.zero_grad()
        d_loss = bce(D(real), torch.ones(n, 1)) + bce(D(fake.detach()), torch.zeros(n, 1))
        d_loss.backward()
        opt_d.step()

        g_loss = bce(D(fake), torch.ones(n, 1))
        g_loss.backward()  #! 6
        opt_g.step()
