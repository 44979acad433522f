import random

import torch
from torch import nn

actor = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 4))
frozen = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 4)).requires_grad_(False)
adam = torch.optim.Adam(actor.parameters(), lr=1e-3)
replay, discount = [], 0.95


def fit(size):
    now, moves, gains, later = zip(*random.sample(replay, size))
    values = actor(torch.stack(now))
    taken = values.gather(1, torch.tensor(moves).unsqueeze(1))  #! 8
    ahead = frozen(torch.stack(later)).max(dim=1).values
    wanted = torch.tensor(gains) + discount * ahead
    error = ((taken - wanted) ** 2).mean()
    adam.zero_grad()
    error.backward()
    adam.step()


for turn in range(900):
    state, after = torch.randn(3), torch.randn(3)
    replay.append((state, turn % 4, 1.0, after))
    if turn > 64:
        fit(32)
