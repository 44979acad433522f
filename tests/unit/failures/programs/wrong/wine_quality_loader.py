import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

X = torch.randn(500, 11)
y = torch.randn(500)
train = DataLoader(TensorDataset(X, y), batch_size=50)
model = nn.Sequential(nn.Linear(11, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
l1 = nn.L1Loss()
for epoch in range(3):
    for xb, yb in train:
        opt.zero_grad()
        out = model(xb)
        loss = l1(out, yb)  #! 8
        loss.backward()
        opt.step()
