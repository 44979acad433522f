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
