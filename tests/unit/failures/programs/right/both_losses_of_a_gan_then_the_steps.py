import torch
from torch import nn

maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
for_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()


def losses(real, made):
    told = bce(critic(real), torch.ones(8, 1)) + bce(critic(made.detach()), torch.zeros(8, 1))
    return told, bce(critic(made), torch.ones(8, 1))


for _ in range(50):
    made = maker(torch.randn(8, 4))
    of_critic, of_maker = losses(torch.randn(8, 2), made)
    for_maker.zero_grad()
    of_maker.backward()
    for_critic.zero_grad()
    of_critic.backward()
    for_critic.step()
    for_maker.step()
