import torch
from torch import nn

policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(3):
    log_probs, rewards, state = [], [], torch.randn(4)
    while len(rewards) < 5:
        dist = torch.distributions.Categorical(logits=policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action))
        state = torch.randn(4)
    returns, total = [], 0.0
    for r in reversed(rewards):
        total = r + 0.99 * total
        returns.insert(0, total)
    returns = torch.tensor(returns)
    loss = -(torch.stack(log_probs) * returns).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
