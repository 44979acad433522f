import torch
import torch.nn as nn


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 6)
        self.heads = nn.ModuleList([nn.Linear(6, 2), nn.Linear(6, 3)])

    def forward(self, x):
        h = torch.relu(self.body(x))
        return [head(h) for head in self.heads]


net = TwoHeads()
opt = torch.optim.Adam(net.body.parameters(), lr=1e-3)  #! 19
for x, y1, y2 in [(torch.randn(4, 6), torch.randint(0, 2, (4,)), torch.randint(0, 3, (4,)))] * 3:
    a, b = net(x)
    loss = nn.functional.cross_entropy(a, y1) + nn.functional.cross_entropy(b, y2)
    opt.zero_grad()
    loss.backward()
    opt.step()
