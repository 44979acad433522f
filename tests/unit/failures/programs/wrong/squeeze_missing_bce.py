import torch
from torch import nn

clf = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
x = torch.randn(30, 4)
y = (x[:, 0] > 0).float()
opt = torch.optim.Adam(clf.parameters())
for _ in range(10):
    p = clf(x)
    loss = -(y * p.clamp(1e-6, 1 - 1e-6).log()).mean()  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
