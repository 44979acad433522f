import torch
from torch import nn

encoder = nn.Linear(100, 16)
decoder = nn.Linear(16, 100)
opt = torch.optim.Adam([{"params": encoder.parameters()}, {"params": decoder.parameters(), "lr": 1e-4}], lr=1e-3)
x = torch.rand(500, 100)
code = torch.tanh(encoder(x))  #! 2
for epoch in range(50):
    opt.zero_grad()
    recon = torch.sigmoid(decoder(code))
    loss = ((recon - x) ** 2).mean()
    loss.backward()
    opt.step()
