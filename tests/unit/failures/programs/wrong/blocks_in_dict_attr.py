import torch
import torch.nn as nn


class MultiHead(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(32, 16)
        self.heads = {t: nn.Linear(16, n) for t, n in tasks.items()}  #! 19

    def forward(self, x):
        h = torch.relu(self.trunk(x))
        return {t: head(h) for t, head in self.heads.items()}


net = MultiHead({"colour": 5, "size": 3})
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for x, targets in loader:
    outs = net(x)
    loss = sum(nn.functional.cross_entropy(outs[t], targets[t]) for t in outs)
    opt.zero_grad()
    loss.backward()
    opt.step()
