import torch
from torch import nn

G = nn.Linear(10, 2)
D = nn.Linear(2, 1)
optG = torch.optim.RMSprop(G.parameters(), lr=5e-5)
optD = torch.optim.RMSprop(D.parameters(), lr=5e-5)
for real in loader:
    z = torch.randn(real.size(0), 10)
    fake = G(z)
    d_loss = -torch.mean(D(real)) + torch.mean(D(fake))  #! 11
    optD.zero_grad()
    d_loss.backward()
    optD.step()
    for p in D.parameters():
        p.data.clamp_(-0.01, 0.01)
    g_loss = -torch.mean(D(fake))
    optG.zero_grad()
    g_loss.backward()
    optG.step()
