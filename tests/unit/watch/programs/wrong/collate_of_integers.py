import torch
from torch import nn
from torch.utils.data import DataLoader


def collate(rows):
    x = torch.stack([torch.tensor([row, row + 1, row * 2]) for row in rows])  #! 22
    return x, torch.tensor([[float(row)] for row in rows])


torch.manual_seed(36)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for x, y in DataLoader(list(range(40)), batch_size=8, collate_fn=collate):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
