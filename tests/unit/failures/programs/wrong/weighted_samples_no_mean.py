import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(256, 10)
y = torch.randint(0, 3, (256,))
weight = torch.rand(256)
loader = DataLoader(TensorDataset(x, y, weight), batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
ce = nn.CrossEntropyLoss(reduction="none")
opt = torch.optim.Adam(net.parameters())
for xb, yb, wb in loader:
    opt.zero_grad()
    loss = ce(net(xb), yb) * wb  #! 3
    loss.backward()
    opt.step()
