import torch
import torch.nn.functional as F
from torch import nn

encoder, decoder = nn.Linear(8, 3), nn.Linear(3, 8)
codes = nn.Embedding(20, 3)
params = [*encoder.parameters(), *decoder.parameters(), *codes.parameters()]
opt = torch.optim.Adam(params, lr=1e-3)
for _ in range(100):
    x = torch.randn(32, 8)
    z = encoder(x)
    with torch.no_grad():
        nearest = torch.cdist(z, codes.weight).argmin(dim=1)
    picked = codes(nearest)
    pull = F.mse_loss(picked.detach(), z)  #! 11
    commit = F.mse_loss(z, picked.detach())
    passed = z + (picked - z).detach()
    loss = F.mse_loss(decoder(passed), x) + pull + 0.25 * commit
    opt.zero_grad()
    loss.backward()
    opt.step()
