import itertools
import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv2d(3, 16, 7, padding=3),
            nn.InstanceNorm2d(16),
            nn.ReLU(inplace=True),
            nn.Conv2d(16, 3, 7, padding=3),
            nn.Tanh(),
        )

    def forward(self, x):
        return self.model(x)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(16, 1, 4, 1, 1)
        )

    def forward(self, x):
        return self.model(x)


G_AB, G_BA = Generator(), Generator()
D_A, D_B = Discriminator(), Discriminator()
criterion_GAN = nn.MSELoss()
criterion_cycle = nn.L1Loss()
optimizer_G = torch.optim.Adam(itertools.chain(G_AB.parameters(), G_BA.parameters()), lr=2e-4)
optimizer_D_A = torch.optim.Adam(D_A.parameters(), lr=2e-4)
optimizer_D_B = torch.optim.Adam(D_B.parameters(), lr=2e-4)
buffer = ReplayBuffer()
for i, batch in enumerate(loader):
    real_A, real_B = batch["A"], batch["B"]
    valid = torch.ones(real_A.size(0), 1, 15, 15)
    zero = torch.zeros(real_A.size(0), 1, 15, 15)
    optimizer_G.zero_grad()
    fake_B = G_AB(real_A)
    fake_A = G_BA(real_B)
    loss_GAN = (criterion_GAN(D_B(fake_B), valid) + criterion_GAN(D_A(fake_A), valid)) / 2
    loss_cycle = (criterion_cycle(G_BA(fake_B), real_A) + criterion_cycle(G_AB(fake_A), real_B)) / 2
    loss_G = loss_GAN + 10.0 * loss_cycle
    loss_G.backward()
    optimizer_G.step()
    optimizer_D_A.zero_grad()
    fake_A_ = buffer.push_and_pop(fake_A)
    loss_D_A = (criterion_GAN(D_A(real_A), valid) + criterion_GAN(D_A(fake_A_.detach()), zero)) / 2
    loss_D_A.backward()
    optimizer_D_A.step()
    optimizer_D_B.zero_grad()
    loss_D_B = (criterion_GAN(D_B(real_B), valid) + criterion_GAN(D_B(fake_B.detach()), zero)) / 2
    loss_D_B.backward()
    optimizer_D_B.step()
    print(loss_G.item(), (loss_D_A + loss_D_B).item())
