import torch
from torch.distributions import Normal

centre = torch.tensor(0.0, requires_grad=True)
opt = torch.optim.SGD([centre], lr=0.1, maximize=True)
for _ in range(50):
    opt.zero_grad()
    Normal(centre, 1.0).log_prob(torch.randn(20) + 3).mean().backward()
    opt.step()
