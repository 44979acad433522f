import torch
import torch.nn as nn

q = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(q.parameters(), 1e-3)


def td_target(r, s2, done, gamma=0.99):
    return r + gamma * (1 - done) * q(s2).max(dim=1).values  #! 11


def learn(batch):
    s, a, r, s2, done = batch
    pred = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(pred, td_target(r, s2, done))
    opt.zero_grad()
    loss.backward()
    opt.step()


for batch in replay:
    learn(batch)
