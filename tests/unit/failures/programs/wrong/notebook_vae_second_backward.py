import torch
import torch.nn as nn
import torch.nn.functional as F

enc = nn.Linear(784, 40)
dec = nn.Linear(20, 784)
opt = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()), lr=1e-3)
x = torch.rand(32, 784)
for step in range(5):
    mu, logvar = enc(x).chunk(2, dim=1)
    z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
    recon = torch.sigmoid(dec(z))
    bce = F.binary_cross_entropy(recon, x)
    kl = -0.5 * torch.mean(1 + logvar - mu**2 - logvar.exp())
    opt.zero_grad()
    bce.backward()  #! 2
    kl.backward()
    opt.step()
