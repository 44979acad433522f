import torch
import torch.nn as nn


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(64, 8)
        self.dec = nn.Linear(8, 64)

    def forward(self, x):
        z = torch.relu(self.enc(x))
        return self.dec(z.detach())  #! 11


ae = AutoEncoder()
opt = torch.optim.Adam(ae.parameters(), lr=1e-3)
x = torch.rand(128, 64)
for _ in range(20):
    loss = nn.functional.mse_loss(ae(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
