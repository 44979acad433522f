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
        weights = torch.softmax(self.ask(rows) @ self.kept.T, dim=1)
        found = weights @ self.kept
        self.kept = torch.cat([torch.sigmoid(self.put(rows)).mean(0, keepdim=True), self.kept[:-1]])  #! 11
        return self.end(found)


net = Shelf()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(10):
    rows = torch.randn(12, 3)
    loss = nn.functional.mse_loss(net(rows), rows.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
