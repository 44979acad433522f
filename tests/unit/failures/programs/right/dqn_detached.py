import torch
import torch.nn as nn

q = nn.Linear(4, 2)
opt = torch.optim.Adam(q.parameters())
gamma = 0.99
for s, a, r, s2, done in replay:
    with torch.no_grad():
        target = r + gamma * (1 - done) * q(s2).max(1).values
    td = q(s).gather(1, a[:, None]).squeeze(1) - target
    loss = td.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
