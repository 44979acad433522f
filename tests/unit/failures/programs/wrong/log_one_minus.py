import torch
import torch.nn as nn

D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
G = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
d_opt = torch.optim.SGD(D.parameters(), lr=0.01)
for real in data:
    fake = G(torch.randn(32, 2)).detach()
    d_loss = -torch.mean(torch.log(D(real)) + torch.log(1 - D(fake)))  #! 9
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
