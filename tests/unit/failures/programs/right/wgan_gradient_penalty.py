import torch
from torch import nn

critic = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1))
gen = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-4)
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-4)


def penalty(real, fake):
    eps = torch.rand(real.size(0), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    grads = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


for step, real in enumerate(loader):
    for _ in range(5):
        fake = gen(torch.randn(real.size(0), 4)).detach()
        loss_c = critic(fake).mean() - critic(real).mean() + 10 * penalty(real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    loss_g = -critic(gen(torch.randn(real.size(0), 4))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
