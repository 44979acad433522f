import torch
from torch import nn


def gains(rewards, factor=0.9):
    found, after = [], 0.0
    for reward in reversed(rewards):
        after = reward + factor * after
        found.append(after)
    return torch.tensor(found[::-1])


def walk(steps):
    places, rewards = [], []
    x, v = torch.rand(2).tolist()
    for _ in range(steps):
        places.append(torch.tensor([x, v]))
        x += v
        rewards.append(-abs(x))
    return torch.stack(places), rewards


judge = nn.Linear(2, 1)
optimizer = torch.optim.Adam(judge.parameters())
for _ in range(10):
    places, rewards = walk(12)
    error = (gains(rewards) - judge(places)).pow(2).mean()  #! 8
    optimizer.zero_grad()
    error.backward()
    optimizer.step()
