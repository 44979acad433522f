import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(6):
    loss = F.mse_loss(net(torch.randn(8, 5)), torch.randn(8, 1))
    loss.backward()  #! 6
    opt.step()
