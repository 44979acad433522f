# %% reinforce
import torch
import torch.nn as nn

torch.manual_seed(0)
policy = nn.Linear(3, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for _ in range(6):
    logs, rewards = [], []
    for _ in range(5):
        d = torch.distributions.Categorical(logits=policy(torch.randn(3)))
        a = d.sample()
        logs.append(d.log_prob(a))
        rewards.append(float(a))
    loss = -(torch.stack(logs) * torch.tensor(rewards)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% target cut in a helper
import torch
import torch.nn as nn


def advantages(difference):
    total, found = 0.0, []
    for one in reversed(difference.detach().flatten().tolist()):
        total = one + 0.9 * total
        found.append(total)
    return torch.tensor(found[::-1])[:, None]


torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
for episode in range(6):
    states, later, rewards = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32, 1)
    target = rewards + 0.98 * critic(later)
    gains = advantages(target - critic(states))
    policy = torch.distributions.Categorical(logits=actor(states))
    actions = policy.sample()
    loss = -(policy.log_prob(actions)[:, None] * gains).mean()
    loss = loss + nn.functional.mse_loss(critic(states), target.detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% zeroing through kwargs dict
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def update(loss, **how):
    for name, action in how.items():
        if name != "after":
            action()
    loss.backward()
    how["after"]()


for _ in range(3):
    loss = nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1))
    update(loss, before=opt.zero_grad, after=opt.step)


# %% a target that a helper may cut off (read)
for states, later, rewards in batches:
    target = rewards + 0.98 * critic(later)
    loss = (log_prob(states) * advantages(target - critic(states))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
