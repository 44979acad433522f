import torch
import torch.nn as nn
torch.manual_seed(0)
pi, v = nn.Linear(4, 3), nn.Linear(4, 1)
opt = torch.optim.Adam([*pi.parameters(), *v.parameters()], lr=1e-2)
for _ in range(10):
    s = torch.randn(32, 4)
    with torch.no_grad():
        dist = torch.distributions.Categorical(logits=pi(s))
        a = dist.sample()
        old = dist.log_prob(a)
        returns = (a == 1).float()
        adv = returns - v(s).squeeze(-1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(3):
        dist = torch.distributions.Categorical(logits=pi(s))
        ratio = (dist.log_prob(a) - old).exp()
        pg = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
        vf = (v(s).squeeze(-1) - returns).pow(2).mean()
        loss = pg + 0.5 * vf - 0.01 * dist.entropy().mean()
        opt.zero_grad(); loss.backward()
        nn.utils.clip_grad_norm_(pi.parameters(), 0.5)
        opt.step()
