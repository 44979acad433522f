import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(3, 2)
loss = F.cross_entropy(net(torch.randn(7, 3)), torch.zeros(7, dtype=torch.long), reduction="none")  #! 3
loss.backward()
