import torch
import torch.nn as nn

actor = nn.Linear(4, 2)
log_alpha = torch.zeros(1, requires_grad=True)
opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
opt_alpha = torch.optim.Adam([log_alpha], lr=3e-4)
for _ in range(5):
    mean, log_std = actor(torch.randn(32, 4)).chunk(2, dim=1)
    dist = torch.distributions.Normal(mean, log_std.exp())
    a = dist.rsample()
    logp = dist.log_prob(a).sum(1)
    alpha = log_alpha.exp().item()
    loss = (alpha * logp - a.sum(1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    loss_alpha = -(log_alpha * (logp + 1.0).detach()).mean()
    opt_alpha.zero_grad()
    loss_alpha.backward()
    opt_alpha.step()
