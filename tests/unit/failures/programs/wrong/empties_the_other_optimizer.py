import torch
from torch import nn

maker, critic = nn.Linear(2, 3), nn.Linear(3, 1)
moves_maker = torch.optim.SGD(maker.parameters(), lr=0.01)
moves_critic = torch.optim.SGD(critic.parameters(), lr=0.01)
for _ in range(50):
    made = maker(torch.randn(8, 2))

    moves_maker.zero_grad()  #! 6
    gap = critic(made.detach()).mean() - critic(torch.randn(8, 3)).mean()
    gap.backward()
    moves_critic.step()

    moves_maker.zero_grad()
    (-critic(made).mean()).backward()
    moves_maker.step()
