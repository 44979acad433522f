import torch
from torch import nn

years = torch.linspace(0, 40, 60).unsqueeze(1)
pay = 2 * years + 30
years = (years - years.mean()) / years.std()
line = nn.Linear(1, 1)
opt = torch.optim.SGD(line.parameters(), lr=0.1)
for _ in range(40):
    loss = nn.functional.mse_loss(line(years), pay)
    opt.zero_grad()
    loss.backward()
    opt.step()
