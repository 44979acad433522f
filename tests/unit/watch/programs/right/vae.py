import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
for _ in range(6):
    x = torch.rand(8, 6)
    mean, logvar = enc(x).chunk(2, 1)
    z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
    loss = F.binary_cross_entropy_with_logits(dec(z), x, reduction="sum")
    loss = loss - 0.5 * (1 + logvar - mean**2 - logvar.exp()).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
