import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Toy(Dataset):
    def __init__(self, n=500):
        self.x = torch.rand(n, 4)
        self.y = self.x.sum(dim=1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
crit = nn.MSELoss()
opt = torch.optim.Adam(net.parameters())
for x, y in DataLoader(Toy(), batch_size=16):
    loss = crit(net(x), y)  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
