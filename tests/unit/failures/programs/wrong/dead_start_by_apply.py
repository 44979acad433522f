import torch
from torch import nn


def start(part):
    if isinstance(part, (nn.Linear, nn.Conv2d)):
        nn.init.orthogonal_(part.weight)
        nn.init.constant_(part.bias, -12.0)  #! 14


critic = nn.Sequential(nn.Linear(3, 16), nn.LayerNorm(16), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
critic.apply(start)
optimizer = torch.optim.Adam(critic.parameters())
for _ in range(20):
    optimizer.zero_grad()
    critic(torch.randn(8, 3)).pow(2).mean().backward()
    optimizer.step()
