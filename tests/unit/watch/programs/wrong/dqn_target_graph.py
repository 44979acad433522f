import torch
import torch.nn as nn
q = nn.Linear(4, 2)
opt = torch.optim.SGD(q.parameters(), lr=0.01)
for _ in range(10):
    s, s2, r = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16)
    a = torch.randint(2, (16, 1))
    target = r + 0.9 * q(s2).max(1).values  #! 11
    loss = (q(s).gather(1, a).squeeze(1) - target).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
