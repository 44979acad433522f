import torch
import torch.nn as nn

torch.manual_seed(0)
policy, value = nn.Linear(3, 4), nn.Linear(3, 1)
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)
for _ in range(10):
    state = torch.randn(32, 3)
    dist = torch.distributions.Categorical(logits=policy(state))
    action = dist.sample()
    reward = (action == 2).float()
    advantage = reward - value(state).squeeze(1).detach()
    actor = (dist.log_prob(action) * advantage).mean()  #! 18
    critic = (value(state).squeeze(1) - reward).pow(2).mean()
    loss = actor + 0.5 * critic - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
