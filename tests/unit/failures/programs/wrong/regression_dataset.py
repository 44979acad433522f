import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.rand(500, 3)
y = x.sum(dim=1) + 0.1 * torch.randn(500)
loader = DataLoader(TensorDataset(x, y), batch_size=50)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(20):
    for xb, yb in loader:
        loss = nn.functional.mse_loss(net(xb), yb)  #! 8
        opt.zero_grad()
        loss.backward()
        opt.step()
