import torch
import torch.nn as nn
import torch.nn.functional as F

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
