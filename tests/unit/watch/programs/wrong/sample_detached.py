import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(8, 4), nn.Linear(2, 8)

    def sample(self, mu, logvar):
        noise = torch.randn_like(mu)
        return (mu + (0.5 * logvar).exp() * noise).detach()  #! 11

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, 1)
        return self.dec(self.sample(mu, logvar))


torch.manual_seed(20)
net = VAE()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(15):
    x = torch.randn(32, 8)
    loss = (net(x) - x).square().sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
