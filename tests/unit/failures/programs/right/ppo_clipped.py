import torch
import torch.nn as nn

pi = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
v = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
opt = torch.optim.Adam([*pi.parameters(), *v.parameters()], lr=3e-4)
obs, act = torch.randn(256, 4), torch.randint(0, 2, (256,))
ret = torch.randn(256)
with torch.no_grad():
    old = torch.distributions.Categorical(logits=pi(obs)).log_prob(act)
    adv = ret - v(obs).squeeze(-1)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
for epoch in range(4):
    for idx in torch.randperm(256).split(64):
        dist = torch.distributions.Categorical(logits=pi(obs[idx]))
        ratio = (dist.log_prob(act[idx]) - old[idx]).exp()
        clipped = ratio.clamp(0.8, 1.2)
        loss_pi = -torch.min(ratio * adv[idx], clipped * adv[idx]).mean()
        loss_v = (v(obs[idx]).squeeze(-1) - ret[idx]).pow(2).mean()
        loss = loss_pi + 0.5 * loss_v - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(pi.parameters(), 0.5)
        opt.step()
