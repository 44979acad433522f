import copy

import torch
from torch import nn

q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(q)
opt = torch.optim.RMSprop(q.parameters(), lr=1e-3)
for step in range(6):
    s, a, r, s2, done = (
        torch.randn(8, 4),
        torch.randint(0, 2, (8, 1)),
        torch.randn(8, 1),
        torch.randn(8, 4),
        torch.zeros(8, 1),
    )
    with torch.no_grad():
        best = r + 0.99 * (1 - done) * target(s2).max(1, keepdim=True).values
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a), best)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(parameters=q.parameters(), clip_value=1.0)
    opt.step()
    if step % 3 == 0:
        target.load_state_dict(state_dict=q.state_dict())
