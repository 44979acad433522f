import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(
    nn.Linear(4, 1),
    nn.Sigmoid(),  #! 25
)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
criterion = nn.BCEWithLogitsLoss()
for _ in range(4):
    loss = criterion(net(torch.randn(8, 4)), torch.ones(8, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
