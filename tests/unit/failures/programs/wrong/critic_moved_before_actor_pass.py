import torch
from torch import nn

actor, critic = nn.Linear(3, 2), nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
opt_actor = torch.optim.Adam(actor.parameters(), lr=1e-4)
opt_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
for state, action, value in [(torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1))] * 3:
    wish = critic(torch.cat([state, actor(state)], dim=1))
    policy_loss = -wish.mean()
    critic_loss = nn.functional.mse_loss(critic(torch.cat([state, action], dim=1)), value)
    opt_critic.zero_grad()
    critic_loss.backward()
    opt_critic.step()  #! 1
    opt_actor.zero_grad()
    policy_loss.backward()
    opt_actor.step()
