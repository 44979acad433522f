import torch
import torch.nn as nn

pi = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.Adam(pi.parameters(), lr=1e-2)


def surrogate(dist, arm, reward, base):
    adv = reward - base
    return -(dist.log_prob(arm) * adv).mean()


for _ in range(10):
    s = torch.randn(32, 4)
    d = torch.distributions.Categorical(logits=pi(s))
    a = d.sample()
    reward = (a == (s[:, 0] > 0).long()).float()
    cost = 1 - reward
    loss = surrogate(d, a, reward, reward.mean()) + (d.log_prob(a) * cost).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
