import torch
from torch import nn


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.towers = nn.ModuleDict({"user": nn.Embedding(20, 8), "item": nn.Embedding(30, 8)})

    def embed(self, name, ids):
        return self.towers[name](ids)

    def forward(self, u, i):
        with torch.no_grad():  #! 12
            items = nn.functional.normalize(self.embed("item", i), dim=1)
        return (self.embed("user", u) * items).sum(1)


torch.manual_seed(21)
net = TwoTower()
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
for _ in range(12):
    u, i = torch.randint(20, (64,)), torch.randint(30, (64,))
    loss = nn.functional.binary_cross_entropy_with_logits(net(u, i), ((u + i) % 2).float())
    opt.zero_grad()
    loss.backward()
    opt.step()
