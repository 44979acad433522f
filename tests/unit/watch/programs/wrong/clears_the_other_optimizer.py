import torch
from torch import nn


class GAN:
    def __init__(self):
        self.g, self.d = nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
        self.og = torch.optim.Adam(self.g.parameters(), 1e-3)
        self.od = torch.optim.Adam(self.d.parameters(), 1e-3)

    def d_step(self, real):
        fake = self.g(torch.randn(len(real), 4)).detach()
        loss = nn.functional.softplus(-self.d(real)).mean() + nn.functional.softplus(self.d(fake)).mean()
        self.og.zero_grad()  #! 6
        loss.backward()
        self.od.step()

    def g_step(self, n):
        loss = nn.functional.softplus(-self.d(self.g(torch.randn(n, 4)))).mean()
        self.og.zero_grad()
        loss.backward()
        self.og.step()


torch.manual_seed(10)
gan = GAN()
for _ in range(15):
    gan.d_step(torch.randn(32, 2) + 3)
    gan.g_step(32)
