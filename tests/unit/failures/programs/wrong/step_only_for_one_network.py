import torch
from torch import nn

enc = nn.GRU(8, 16)
dec = nn.Linear(16, 8)
opt_enc = torch.optim.Adam(enc.parameters(), lr=1e-3)
opt_dec = torch.optim.Adam(dec.parameters(), lr=1e-3)
for x in data:
    opt_enc.zero_grad()
    out, h = enc(x)
    loss = nn.functional.mse_loss(dec(out), x)
    loss.backward()  #! 6
    opt_enc.step()
    opt_dec.step()
