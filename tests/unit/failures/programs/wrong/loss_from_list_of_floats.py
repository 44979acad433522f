import torch
import torch.nn as nn

policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def run_episode():
    state = torch.randn(4)
    losses = []
    for t in range(10):
        dist = torch.distributions.Categorical(logits=policy(state))
        action = dist.sample()
        losses.append(-dist.log_prob(action) * 1.0)
        state = torch.randn(4)
    return losses


for episode in range(5):
    losses = run_episode()
    loss = torch.tensor(losses).sum().requires_grad_()  #! 4|13
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
