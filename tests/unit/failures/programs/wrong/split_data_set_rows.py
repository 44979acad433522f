import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

x = torch.rand(60, 3)
data = TensorDataset(x, x.sum(1))
train, held_out = random_split(data, [48, 12])
net = nn.Sequential(nn.Linear(3, 8), nn.Hardswish(), nn.Linear(8, 1))
optimizer = torch.optim.AdamW(net.parameters())
for inputs, wanted in DataLoader(train, batch_size=12):
    loss = nn.functional.smooth_l1_loss(net(inputs), wanted)  #! 8
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
