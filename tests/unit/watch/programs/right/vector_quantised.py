import torch
from torch import nn
torch.manual_seed(22)
class VQ(nn.Module):
    def __init__(self, k, d):
        super().__init__()
        self.codes = nn.Embedding(k, d)
    def forward(self, z):
        index = torch.cdist(z, self.codes.weight).argmin(1)
        q = self.codes(index)
        loss = nn.functional.mse_loss(q, z.detach()) + 0.25 * nn.functional.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss
enc, vq, dec = nn.Linear(6, 3), VQ(8, 3), nn.Linear(3, 6)
opt = torch.optim.Adam([*enc.parameters(), *vq.parameters(), *dec.parameters()], lr=1e-3)
for x in torch.randn(20, 32, 6):
    q, extra = vq(enc(x))
    loss = nn.functional.mse_loss(dec(q), x) + extra
    opt.zero_grad()
    loss.backward()
    opt.step()
