import torch
import torch.nn as nn


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(6, 2), nn.Linear(2, 6)

    def forward(self, x):
        code = self.enc(x)
        self.seen = code.detach()
        return self.dec(self.seen)  #! 11


net = Coder()
opt = torch.optim.Adam(net.parameters())
for _ in range(6):
    x = torch.randn(8, 6)
    loss = nn.functional.mse_loss(net(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
