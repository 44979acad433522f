import torch
from torch import nn


class GAN:
    def __init__(self, g: nn.Module, d: nn.Module, z_dim: int):
        self.g, self.d, self.z_dim = g, d, z_dim
        self.opts = {
            "g": torch.optim.Adam(g.parameters(), 1e-4, betas=(0.5, 0.9)),
            "d": torch.optim.Adam(d.parameters(), 4e-4, betas=(0.5, 0.9)),
        }

    def _apply(self, which, loss):
        for opt in self.opts.values():
            opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opts[which].step()
        return loss.item()

    def noise(self, n):
        return torch.randn(n, self.z_dim)

    def d_step(self, real):
        with torch.no_grad():
            fake = self.g(self.noise(len(real)))
        hinge = (1 - self.d(real)).relu().mean() + (1 + self.d(fake)).relu().mean()
        return self._apply("d", hinge)

    def g_step(self, n):
        return self._apply("g", -self.d(self.g(self.noise(n))).mean())

    def train(self, loader, epochs):
        for epoch in range(epochs):
            d_sum = g_sum = 0
            for real in loader:
                d_sum += self.d_step(real)
                g_sum += self.g_step(len(real))
            print(f"{epoch}: d {d_sum / len(loader):.3f} g {g_sum / len(loader):.3f}")
