import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(8, 4)
temp = torch.tensor(0.07, requires_grad=True)
opt = torch.optim.Adam(net.parameters())  #! 19
for _ in range(5):
    a, b = F.normalize(net(torch.randn(16, 8)), dim=1), F.normalize(net(torch.randn(16, 8)), dim=1)
    loss = F.cross_entropy(a @ b.t() / temp, torch.arange(16))
    opt.zero_grad()
    loss.backward()
    opt.step()
