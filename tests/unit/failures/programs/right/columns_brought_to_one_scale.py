import torch
from torch import nn

weight = 40 + 60 * torch.rand(300, 1)
doors = torch.randint(2, 6, (300, 1)).float()
price = 3 * weight + 50 * doors
table = torch.cat([weight, doors], dim=1)
table = (table - table.mean(0)) / table.std(0)
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(500):
    loss = nn.functional.mse_loss(model(table), price)
    opt.zero_grad()
    loss.backward()
    opt.step()
