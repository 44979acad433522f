import torch
from torch import nn

actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-4)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
states, actions, returns = torch.randn(200, 4), torch.randn(200, 1), torch.randn(200, 1)

for i in range(0, 200, 20):
    state, action, value = states[i : i + 20], actions[i : i + 20], returns[i : i + 20]
    critic_loss = nn.functional.mse_loss(critic(torch.cat([state, action], 1)), value)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    actor_loss = -critic(torch.cat([state, actor(state)], 1)).mean()
    critic_optimizer.zero_grad()  #! 6
    actor_loss.backward()
    actor_optimizer.step()
