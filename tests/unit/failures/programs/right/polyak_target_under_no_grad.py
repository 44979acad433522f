import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

q = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
target_q = copy.deepcopy(q).requires_grad_(False)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(10):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a, r, done = torch.randint(0, 2, (32, 1)), torch.randn(32), torch.zeros(32)
    with torch.no_grad():
        best = target_q(s2).max(dim=1).values
        target = r + 0.99 * (1 - done) * best
    chosen = q(s).gather(1, a).squeeze(1)
    loss = F.smooth_l1_loss(chosen, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, tp in zip(q.parameters(), target_q.parameters()):
            tp.mul_(0.995).add_(p, alpha=0.005)
