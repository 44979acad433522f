import torch
import torch.nn as nn


class VQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(16, 8), nn.Linear(8, 16)
        self.codebook = nn.Embedding(32, 8)

    def forward(self, x):
        z = self.enc(x)
        index = torch.cdist(z, self.codebook.weight).argmin(dim=1)
        q = self.codebook(index)
        commit = ((z - q.detach()) ** 2).mean() + ((q - z.detach()) ** 2).mean()
        q = z + (q - z).detach()
        return self.dec(q), commit


net = VQ()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(3):
    x = torch.randn(8, 16)
    out, commit = net(x)
    loss = nn.functional.mse_loss(out, x) + 0.25 * commit
    opt.zero_grad()
    loss.backward()
    opt.step()
