import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16))
        self.logit_scale = nn.Parameter(torch.tensor(2.66))

    def forward(self, a, b):
        za, zb = F.normalize(self.net(a), dim=1), F.normalize(self.net(b), dim=1)
        return za @ zb.T * self.logit_scale.exp()


enc = Encoder()
opt = torch.optim.AdamW(enc.parameters(), lr=1e-3)
for _ in range(5):
    x = torch.randn(16, 32)
    logits = enc(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    labels = torch.arange(16)
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item(), enc.logit_scale.item())
