import torch
from torch import nn

maker, critic = nn.Linear(2, 3), nn.Linear(3, 1)
optimizers = [torch.optim.SGD(part.parameters(), lr=0.01) for part in (maker, critic)]
moves_maker, moves_critic = optimizers
kernel = torch.exp(-torch.cdist(torch.rand(4, 2), torch.rand(4, 2)))
for _ in range(50):
    made = maker(torch.randn(4, 2))
    moves_maker.zero_grad()
    moves_critic.zero_grad()
    gap = (kernel @ critic(made.detach())).mean() - critic(torch.randn(8, 3)).mean()
    gap.backward()
    moves_critic.step()
    (-critic(made).mean()).backward()
    moves_maker.step()
