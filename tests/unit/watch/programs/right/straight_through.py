import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
enc, dec = nn.Linear(4, 3), nn.Linear(3, 4)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
for _ in range(6):
    x = torch.randn(8, 4)
    z = enc(x)
    hard = z + (z.round() - z).detach()
    loss = F.mse_loss(dec(hard), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
