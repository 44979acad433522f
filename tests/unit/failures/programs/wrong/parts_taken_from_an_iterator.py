import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
parts = iter(DataLoader(TensorDataset(torch.randn(640, 3), torch.randn(640, 1)), batch_size=4))
for step in range(32):
    opt.zero_grad()
    for part in range(5):
        x, y = next(parts)
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()  #! 24
    opt.step()
