import torch
import torch.nn as nn

D = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(D.parameters(), lr=1e-4, betas=(0.0, 0.9))
for _ in range(3):
    real, fake = torch.randn(16, 2), torch.randn(16, 2)
    eps = torch.rand(16, 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    grad = torch.autograd.grad(D(mix).sum(), mix, create_graph=True)[0]
    gp = ((grad.norm(2, dim=1) - 1) ** 2).mean()
    loss = D(fake).mean() - D(real).mean() + 10 * gp
    opt.zero_grad()
    loss.backward()
    opt.step()
