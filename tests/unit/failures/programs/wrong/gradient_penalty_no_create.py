import torch
import torch.nn as nn

critic = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-4)


def gradient_penalty(real, fake):
    alpha = torch.rand(real.size(0), 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    score = critic(mixed)
    grad = torch.autograd.grad(score.sum(), mixed)[0]  #! 4
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


for real in data:
    fake = torch.randn_like(real)
    opt.zero_grad()
    gp = gradient_penalty(real, fake)
    gp.backward()
    opt.step()
