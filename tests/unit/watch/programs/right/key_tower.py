import copy

import torch
from torch import nn

torch.manual_seed(4)


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.queries = nn.Linear(6, 4)
        self.keys = copy.deepcopy(self.queries)

    @torch.no_grad()
    def key_of(self, item):
        for slow, fast in zip(self.keys.parameters(), self.queries.parameters()):
            slow.lerp_(fast, 0.1)
        return self.keys(item)

    def forward(self, left, right):
        return self.queries(left) @ self.key_of(right).T


net = Contrast()
opt = torch.optim.Adam(net.queries.parameters(), lr=0.01)
for x in torch.randn(20, 16, 6):
    loss = nn.functional.cross_entropy(net(x, x + 0.1 * torch.randn(16, 6)), torch.arange(16))
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print(net.key_of(torch.ones(1, 6)))
