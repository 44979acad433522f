import torch
import torch.nn as nn

enc, dec = nn.Linear(10, 4), nn.Linear(4, 10)
opt = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()), lr=1e-3)
for _ in range(5):
    x = torch.randn(16, 10)
    code = torch.round(enc(x))  #! 21
    loss = ((dec(code) - x) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
