import torch
from advantages import lambda_returns
from torch import nn

actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
a_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
c_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(5):
    states, rewards = torch.randn(16, 4), torch.randn(16)
    values = critic(states).squeeze(1)
    targets = lambda_returns(rewards, values)
    dist = torch.distributions.Categorical(logits=actor(states))
    action = dist.sample()
    actor_loss = -(dist.log_prob(action) * (targets - values).detach()).mean()
    critic_loss = nn.functional.mse_loss(values, targets)
    a_opt.zero_grad()
    actor_loss.backward()
    a_opt.step()
    c_opt.zero_grad()
    critic_loss.backward()
    c_opt.step()
