import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parts = {
    "fit": DataLoader(TensorDataset(torch.randn(80, 6), torch.randn(80, 1)), batch_size=16),
    "check": DataLoader(TensorDataset(torch.randn(40, 6), torch.randn(40, 1)), batch_size=40),
}
net = nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(5):
    for part in parts:
        for x, y in parts[part]:
            opt.zero_grad()
            with torch.set_grad_enabled(part == "fit"):
                loss = nn.functional.mse_loss(net(x), y)
            if part == "fit":
                loss.backward()
                opt.step()
