import torch
from torch import nn


class Player(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = nn.Linear(4, 3)
        self.chosen, self.gains = [], []

    def move(self, state):
        dist = torch.distributions.Categorical(logits=self.scores(state))
        action = dist.sample()
        self.chosen.append(dist.log_prob(action))
        return action

    def forget(self):
        self.chosen.clear()
        self.gains.clear()


player = Player()
opt = torch.optim.Adam(player.parameters(), lr=1e-2)
for _ in range(60):
    for _ in range(15):
        action = player.move(torch.randn(4))
        player.gains.append(1.0 if action == 1 else 0.0)
    loss = -(torch.stack(player.chosen) * torch.tensor(player.gains)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    player.forget()
