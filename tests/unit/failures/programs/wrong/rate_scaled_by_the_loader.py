import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def descent(net, batch_size, rate=0.2, reference=2):
    scaled = rate * batch_size / reference
    return torch.optim.SGD(net.parameters(), lr=scaled, momentum=0.9)  #! 17


net = nn.Sequential(nn.Linear(4, 30), nn.ReLU(), nn.Linear(30, 1))
data = TensorDataset(torch.randn(300, 4), torch.randn(300, 1))
loader = DataLoader(data, batch_size=60, shuffle=True)
opt = descent(net, loader.batch_size)
for x, y in loader:
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
