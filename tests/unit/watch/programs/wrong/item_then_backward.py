import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
x, y = torch.randn(8, 4), torch.randn(8, 1)
loss = F.mse_loss(net(x), y).item()  #! 13
loss.backward()
