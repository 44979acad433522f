"""DDPG: target networks with Polyak steps, the critic frozen while the actor learns through it."""
import copy

import torch
from torch import nn

torch.manual_seed(6)
actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
actor_t, critic_t = copy.deepcopy(actor).requires_grad_(False), copy.deepcopy(critic).requires_grad_(False)
oa, oc = torch.optim.Adam(actor.parameters(), 1e-3), torch.optim.Adam(critic.parameters(), 1e-3)
for it in range(20):
    s, a, s2 = torch.randn(32, 3), torch.rand(32, 1) * 2 - 1, torch.randn(32, 3)
    r = -(s[:, :1] - a).abs()
    goal = r + 0.95 * critic_t(torch.cat([s2, actor_t(s2)], 1))
    lc = nn.functional.mse_loss(critic(torch.cat([s, a], 1)), goal)
    oc.zero_grad()
    lc.backward()
    oc.step()
    critic.requires_grad_(False)
    la = -critic(torch.cat([s, actor(s)], 1)).mean()
    oa.zero_grad()
    la.backward()
    oa.step()
    critic.requires_grad_(True)
    with torch.no_grad():
        for net, old in ((actor, actor_t), (critic, critic_t)):
            for p, q in zip(net.parameters(), old.parameters()):
                q.lerp_(p, 0.05)
