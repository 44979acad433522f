import torch
import torch.nn as nn

pi = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.Adam(pi.parameters(), lr=1e-2)
for _ in range(10):
    s = torch.randn(32, 4)
    d = torch.distributions.Categorical(logits=pi(s))
    a = d.sample()
    r = (a == (s[:, 0] > 0).long()).float()
    loss = (d.log_prob(a) * (r - r.mean())).mean()  #! 18
    opt.zero_grad()
    loss.backward()
    opt.step()
