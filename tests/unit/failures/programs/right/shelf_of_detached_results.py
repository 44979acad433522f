import torch
from torch import nn


class Shelf(nn.Module):
    def __init__(self):
        super().__init__()
        self.put = nn.Linear(3, 5)
        self.ask = nn.Linear(3, 5)
        self.end = nn.Linear(5, 1)
        self.kept = torch.zeros(6, 5)

    def forward(self, rows):
        new = torch.sigmoid(self.put(rows)).mean(0, keepdim=True)
        known = torch.cat([new, self.kept[:-1]])
        self.kept = known.detach()
        weights = torch.softmax(self.ask(rows) @ known.T, dim=1)
        return self.end(weights @ known)


net = Shelf()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(10):
    rows = torch.randn(12, 3)
    loss = nn.functional.mse_loss(net(rows), rows.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
