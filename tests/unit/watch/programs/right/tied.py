import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 6)
        self.out = nn.Linear(6, 11, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, ids):
        return self.out(self.embed(ids))


net = Tied()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(6):
    ids = torch.randint(0, 11, (4, 5))
    loss = F.cross_entropy(net(ids).flatten(0, 1), ids.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
