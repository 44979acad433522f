import torch
import torch.nn as nn


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def sample(energy, start, steps=60, size=10.0, noise=0.005):
    x = start.clone().requires_grad_(True)
    for _ in range(steps):
        slope = torch.autograd.grad(energy(x).sum(), x)[0]
        x.data.add_(slope, alpha=-size * noise)
        x.data.add_(torch.randn_like(x), alpha=noise)
    return x.detach()


energy = Energy()
opt = torch.optim.Adam(energy.parameters(), lr=1e-4, betas=(0.0, 0.999))
buffer = torch.rand(10000, 2) * 2 - 1
for step in range(10000):
    real = next(data)
    rows = torch.randint(0, len(buffer), (len(real),))
    fake = sample(energy, buffer[rows])
    buffer[rows] = fake
    e_real, e_fake = energy(real), energy(fake)
    loss = e_real.mean() - e_fake.mean() + 0.1 * (e_real**2 + e_fake**2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
