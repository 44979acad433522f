import torch
from torch import nn

policy = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
GAMMA = 0.99


def optimise(batch):
    state, action, reward, next_state, done = batch
    q = policy(state).gather(1, action.unsqueeze(1)).squeeze(1)
    target = reward + GAMMA * (1 - done) * policy(next_state).max(1)[0]  #! 11
    loss = nn.functional.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
