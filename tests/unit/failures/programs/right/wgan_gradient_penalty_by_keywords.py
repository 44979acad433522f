import torch
from torch import nn

critic, gen = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)), nn.Linear(2, 2)
opt = torch.optim.Adam(params=critic.parameters(), lr=1e-4)
for _ in range(4):
    real, fake = torch.randn(8, 2), gen(torch.randn(8, 2)).detach()
    eps = torch.rand(8, 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    out = critic(mix)
    slope = torch.autograd.grad(
        outputs=out, inputs=mix, grad_outputs=torch.ones_like(out), create_graph=True, retain_graph=True
    )[0]
    loss = critic(fake).mean() - critic(real).mean() + 10 * (slope.norm(2, dim=1) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
