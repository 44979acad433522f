import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
enc, dec = nn.Linear(6, 2), nn.Linear(2, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
for _ in range(5):
    x = torch.randn(8, 6)
    code = enc(x).tanh().detach()
    loss = F.mse_loss(dec(code), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
