import torch
import torch.nn.functional as F
from torch import nn

actor, q1, q2 = nn.Linear(4, 2), nn.Linear(6, 1), nn.Linear(6, 1)
q1_target, q2_target = nn.Linear(6, 1), nn.Linear(6, 1)
q1_target.load_state_dict(q1.state_dict())
q2_target.load_state_dict(q2.state_dict())
q_opt = torch.optim.Adam(list(q1.parameters()) + list(q2.parameters()), lr=3e-4)
a_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
log_alpha = torch.zeros(1, requires_grad=True)
alpha_opt = torch.optim.Adam([log_alpha], lr=3e-4)
for s, a, r, s2, d in batches:
    with torch.no_grad():
        a2 = actor(s2)
        x2 = torch.cat([s2, a2], 1)
        backup = r + 0.99 * (1 - d) * torch.min(q1_target(x2), q2_target(x2))
    x = torch.cat([s, a], 1)
    q_loss = F.mse_loss(q1(x), backup) + F.mse_loss(q2(x), backup)
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()
    pi = actor(s)
    xp = torch.cat([s, pi], 1)
    a_loss = (log_alpha.exp().detach() * logp(pi) - torch.min(q1(xp), q2(xp))).mean()
    a_opt.zero_grad()
    a_loss.backward()
    a_opt.step()
    alpha_loss = -(log_alpha * (logp(pi) + 2).detach()).mean()
    alpha_opt.zero_grad()
    alpha_loss.backward()
    alpha_opt.step()
    with torch.no_grad():
        for p, t in zip(q1.parameters(), q1_target.parameters()):
            t.data.mul_(0.995)
            t.data.add_(0.005 * p.data)
