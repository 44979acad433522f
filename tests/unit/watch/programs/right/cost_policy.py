import torch
import torch.nn as nn
torch.manual_seed(0)
pi = nn.Linear(4, 3)
opt = torch.optim.Adam(pi.parameters(), lr=1e-2)
for _ in range(30):
    dist = torch.distributions.Categorical(logits=pi(torch.randn(32, 4)))
    a = dist.sample()
    cost = (a - 1).abs().float()
    loss = (dist.log_prob(a) * (cost - cost.mean())).mean()
    opt.zero_grad(); loss.backward(); opt.step()
