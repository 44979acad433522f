import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

features = torch.randn(400, 6)
prices = features @ torch.randn(6) + 0.1 * torch.randn(400)
loader = DataLoader(TensorDataset(features, prices), batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


def criterion(pred, true):
    return torch.abs(pred - true).mean()  #! 8


for epoch in range(20):
    for f, p in loader:
        loss = criterion(net(f), p)
        opt.zero_grad()
        loss.backward()
        opt.step()
