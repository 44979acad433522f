import copy
import torch
import torch.nn as nn
torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(20):
    s, s2, r, done = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16), torch.rand(16) < 0.1
    a = torch.randint(2, (16, 1))
    with torch.no_grad():
        goal = r + 0.99 * target(s2).max(1).values * (~done)
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a).squeeze(1), goal)
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 5 == 0:
        target.load_state_dict(q.state_dict())
    with torch.no_grad():
        for p, t in zip(q.parameters(), target.parameters()):
            t.mul_(0.99).add_(0.01 * p)
