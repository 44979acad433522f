import copy

import torch
from torch import nn

policy = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
target_net = copy.deepcopy(policy)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def optimise(batch, gamma=0.99):
    state, action, reward, next_state, done = batch
    q = policy(state).gather(1, action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        target = reward + gamma * (1 - done) * target_net(next_state).max(1)[0]
    loss = nn.functional.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    for p in policy.parameters():
        p.grad.data.clamp_(-1, 1)
    optimizer.step()
