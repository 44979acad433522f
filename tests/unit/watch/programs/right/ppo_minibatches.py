import torch
from torch import nn
from torch.distributions import Categorical
torch.manual_seed(23)
actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
for _ in range(10):
    s = torch.randn(64, 4)
    with torch.no_grad():
        old = Categorical(logits=actor(s))
        a = old.sample()
        before, ret = old.log_prob(a), (a == s[:, :3].argmax(1)).float()
        adv = ret - critic(s).squeeze(1)
    for idx in torch.randperm(64).split(16):
        dist = Categorical(logits=actor(s[idx]))
        ratio = (dist.log_prob(a[idx]) - before[idx]).exp()
        clipped = ratio.clamp(0.8, 1.2)
        policy = -torch.min(ratio * adv[idx], clipped * adv[idx]).mean()
        value = nn.functional.mse_loss(critic(s[idx]).squeeze(1), ret[idx])
        loss = policy + 0.5 * value - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
