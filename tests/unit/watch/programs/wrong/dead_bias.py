import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
layer, head = nn.Linear(4, 16), nn.Linear(16, 1)
nn.init.constant_(layer.bias, -50.0)  #! 14
opt = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.01)
for _ in range(12):
    x = torch.randn(16, 4)
    hidden = F.relu(layer(x))
    loss = F.mse_loss(head(hidden), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
