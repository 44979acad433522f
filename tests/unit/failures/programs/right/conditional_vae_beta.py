# %% [markdown]
# # A conditional VAE

# %%
%load_ext autoreload
%autoreload 2
import torch
from torch import nn
import torch.nn.functional as F

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

# %%
class CVAE(nn.Module):
    def __init__(self, n_in=784, n_cls=10, n_z=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_in + n_cls, 256), nn.SiLU())
        self.mu, self.logvar = nn.Linear(256, n_z), nn.Linear(256, n_z)
        self.dec = nn.Sequential(nn.Linear(n_z + n_cls, 256), nn.SiLU(), nn.Linear(256, n_in))

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x, c):
        h = self.enc(torch.cat([x, c], 1))
        mu, logvar = self.mu(h), self.logvar(h)
        return self.dec(torch.cat([self.reparameterize(mu, logvar), c], 1)), mu, logvar

# %%
def loss_fn(logits, x, mu, logvar, beta):
    bce = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(-1)
    return (bce + beta * kl).mean(), bce.mean().item(), kl.mean().item()

# %%
net = CVAE().to(device)
opt = torch.optim.Adam(net.parameters(), 1e-3)
curve = []
for epoch in range(20):
    beta = min(1.0, epoch / 10)
    for x, y in loader:
        x, c = x.view(len(x), -1).to(device), F.one_hot(y, 10).float().to(device)
        loss, bce, kl = loss_fn(*[(out := net(x, c))[0], x, *out[1:]], beta)
        opt.zero_grad(); loss.backward(); opt.step()
        curve.append((bce, kl))

# %%
!nvidia-smi
net.eval()
with torch.no_grad():
    pictures = torch.sigmoid(net.dec(torch.cat([torch.randn(10, 8), torch.eye(10)], 1).to(device)))
