import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
import copy

net = nn.Linear(4, 2)
target = copy.deepcopy(net)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(8):
    s, a, r = torch.randn(8, 4), torch.randint(0, 2, (8, 1)), torch.randn(8)
    q = net(s).gather(1, a).squeeze(1)
    with torch.no_grad():
        wanted = r + 0.9 * target(torch.randn(8, 4)).max(1).values
    loss = F.smooth_l1_loss(q, wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, t in zip(net.parameters(), target.parameters()):
            t.mul_(0.99).add_(p, alpha=0.01)
