import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
enc, dec = nn.Linear(6, 2), nn.Linear(2, 6)
opt = torch.optim.Adam(dec.parameters(), lr=0.01)  #! 19
for _ in range(5):
    x = torch.randn(8, 6)
    loss = F.mse_loss(dec(enc(x)), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
