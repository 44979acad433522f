import torch
from torch.distributions import Normal

heights = 170 + 8 * torch.randn(200)
centre = torch.tensor(160.0, requires_grad=True)
width = torch.tensor(2.0, requires_grad=True)
opt = torch.optim.Adam([centre, width], lr=0.1)


def evidence():
    return Normal(centre, width.exp()).log_prob(heights).sum()  #! 18


for _ in range(50):
    opt.zero_grad()
    total = evidence()
    total.backward()
    opt.step()
