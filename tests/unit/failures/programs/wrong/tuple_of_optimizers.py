import torch
from torch import nn, optim
from typing import Tuple


class TwoTower(nn.Module):
    def __init__(self, users: int, items: int, dim: int = 32) -> None:
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)

    def forward(self, u: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return (self.user(u) * self.item(i)).sum(-1)


def make_optimizers(m: TwoTower) -> Tuple[optim.Optimizer, optim.Optimizer]:
    return optim.SGD(m.user.parameters(), lr=0.1), optim.SGD(m.item.parameters(), lr=0.1)


model = TwoTower(1000, 500)
opt_u, opt_i = make_optimizers(model)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(5):
    for u, i, clicked in interactions:
        opt_u.zero_grad()
        loss = criterion(model(u, i), clicked.float())
        loss.backward()  #! 6
        opt_u.step()
        opt_i.step()
