import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(784, 40)
        self.dec = nn.Linear(20, 784)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        std = logvar.mul(0.5).exp()
        z = torch.tensor(np.random.normal(mu.detach().numpy(), std.detach().numpy()), dtype=torch.float32)  #! 13|11
        return self.dec(z)


vae = VAE()
opt = torch.optim.Adam(vae.parameters(), 1e-3)
for x, _ in mnist:
    opt.zero_grad()
    F.mse_loss(vae(x), x).backward()
    opt.step()
