import torch
from torch import nn
from torch.distributions import Normal


class Actor(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(s, 64), nn.Tanh(), nn.Linear(64, a))
        self.log_std = nn.Parameter(torch.zeros(a))

    def dist(self, s):
        return Normal(self.mu(s), self.log_std.exp())


def improve(actor, optimizer, states, actions, advantages, clip=0.2, rounds=10):
    old = actor.dist(states).log_prob(actions).sum(-1)  #! 11
    for _ in range(rounds):
        new = actor.dist(states).log_prob(actions).sum(-1)
        ratio = (new - old).exp()
        loss = -torch.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
