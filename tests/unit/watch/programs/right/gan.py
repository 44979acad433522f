import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
G, D = nn.Linear(2, 4), nn.Linear(4, 1)
og, od = torch.optim.Adam(G.parameters(), lr=1e-3), torch.optim.Adam(D.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
for _ in range(8):
    real, fake = torch.randn(8, 4), G(torch.randn(8, 2))
    od.zero_grad()
    bce(D(real), torch.ones(8, 1)).backward()
    bce(D(fake.detach()), torch.zeros(8, 1)).backward()
    od.step()
    og.zero_grad()
    bce(D(fake), torch.ones(8, 1)).backward()
    og.step()
