import torch
import torch.nn as nn
import torch.nn.functional as F

actor = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 2))
critic = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(actor.parameters(), lr=3e-4)  #! 19
for update in range(10):
    states = torch.randn(128, 3)
    returns = torch.randn(128)
    dist = torch.distributions.Categorical(logits=actor(states))
    actions = dist.sample()
    values = critic(states).squeeze(-1)
    advantage = returns - values
    policy_loss = -(dist.log_prob(actions) * advantage.detach()).mean()
    value_loss = advantage.pow(2).mean()
    loss = policy_loss + 0.5 * value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
