import torch
import torch.nn as nn

net = nn.Linear(3, 5).requires_grad_(False)
goal = torch.randn(5)
latent = torch.zeros(3)  #! 4
opt = torch.optim.Adam([latent], lr=0.1)
loss = (net(latent) - goal).pow(2).mean()
loss.backward()
