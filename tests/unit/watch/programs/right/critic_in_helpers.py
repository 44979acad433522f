import torch
from torch import nn

torch.manual_seed(13)
maker, critic = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
for_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)


def critic_step(real):
    for_critic.zero_grad()
    made = maker(torch.randn(16, 2))
    loss = torch.relu(1 - critic(real)).mean() + torch.relu(1 + critic(made)).mean()
    loss.backward()
    for_critic.step()


for number, real in enumerate(torch.randn(20, 16, 3) + 1):
    critic_step(real)
    if number % 5 == 4:
        for_maker.zero_grad()
        loss = -critic(maker(torch.randn(16, 2))).mean()
        loss.backward()
        for_maker.step()
