import torch
import torch.nn as nn

pi = nn.Linear(4, 2)
opt = torch.optim.Adam(pi.parameters(), lr=1e-3)
s, a, adv = torch.randn(64, 4), torch.randint(0, 2, (64,)), torch.randn(64)
with torch.no_grad():
    old = torch.distributions.Categorical(logits=pi(s)).log_prob(a)
for _ in range(4):
    d = torch.distributions.Categorical(logits=pi(s))
    ratio = (d.log_prob(a) - old).exp()
    clipped = ratio.clamp(0.8, 1.2)
    loss = -torch.min(ratio * adv, clipped * adv).mean() - 0.01 * d.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
