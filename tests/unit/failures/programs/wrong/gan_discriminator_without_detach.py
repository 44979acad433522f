import torch
from torch import nn, optim

netG = nn.Sequential(nn.Linear(100, 128), nn.ReLU(True), nn.Linear(128, 784))
netD = nn.Sequential(nn.Linear(784, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
optG = optim.Adam(netG.parameters(), lr=2e-4)
optD = optim.Adam(netD.parameters(), lr=2e-4)
loss_fn = nn.BCEWithLogitsLoss()
for real in dataloader:
    b = real.size(0)
    ones, zeros = torch.ones(b, 1), torch.zeros(b, 1)
    fake = netG(torch.randn(b, 100))

    optD.zero_grad()
    lossD = loss_fn(netD(real), ones) + loss_fn(netD(fake), zeros)  #! 11
    lossD.backward()
    optD.step()

    optG.zero_grad()
    lossG = loss_fn(netD(fake), ones)
    lossG.backward()
    optG.step()
