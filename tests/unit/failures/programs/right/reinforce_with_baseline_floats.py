import torch
import torch.nn as nn
from torch.distributions import Categorical

policy = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 2))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)


def rollout():
    logs, rewards = [], []
    for t in range(12):
        dist = Categorical(logits=policy(torch.randn(4)))
        action = dist.sample()
        logs.append(dist.log_prob(action))
        rewards.append(float(action.item() == 1))
    return logs, rewards


for episode in range(5):
    logs, rewards = rollout()
    returns, g = [], 0.0
    for r in reversed(rewards):
        g = r + 0.99 * g
        returns.insert(0, g)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = torch.stack([-lp * ret for lp, ret in zip(logs, returns)]).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
