import torch
import torch.nn as nn

latent = 64
G = nn.Sequential(nn.Linear(latent, 256), nn.ReLU(), nn.Linear(256, 784), nn.Tanh())
D = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1), nn.Sigmoid())
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCELoss()
for epoch in range(20):
    for i, (real, _) in enumerate(loader):
        n = real.size(0)
        D.zero_grad()
        label = torch.full((n,), 1.0)
        output = D(real.view(n, -1)).view(-1)
        err_real = bce(output, label)
        err_real.backward()
        fake = G(torch.randn(n, latent))
        label.fill_(0.0)
        output = D(fake.detach()).view(-1)
        err_fake = bce(output, label)
        err_fake.backward()
        opt_d.step()
        G.zero_grad()
        label.fill_(1.0)
        output = D(fake).view(-1)
        err_g = bce(output, label)
        err_g.backward()
        opt_g.step()
        if i % 50 == 0:
            print(err_real.item() + err_fake.item(), err_g.item())
