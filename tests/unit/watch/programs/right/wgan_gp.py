import torch
from torch import nn
torch.manual_seed(0)
g, d = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)), nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
og, od = torch.optim.Adam(g.parameters(), 2e-4, betas=(0.5, 0.9)), torch.optim.Adam(d.parameters(), 2e-4, betas=(0.5, 0.9))
for step in range(12):
    for _ in range(2):
        real, fake = torch.randn(32, 2) + 2, g(torch.randn(32, 4)).detach()
        mix = torch.rand(32, 1)
        mid = (mix * real + (1 - mix) * fake).requires_grad_()
        grad, = torch.autograd.grad(d(mid).sum(), mid, create_graph=True)
        loss = d(fake).mean() - d(real).mean() + 10 * (grad.norm(dim=1) - 1).square().mean()
        od.zero_grad()
        loss.backward()
        od.step()
    loss = -d(g(torch.randn(32, 4))).mean()
    og.zero_grad()
    loss.backward()
    og.step()
