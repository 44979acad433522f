import torch

torch.manual_seed(0)
particles = torch.randn(50, 2)


def energy(x):
    return ((x**2).sum(1) - 1).square().sum()


x = particles.requires_grad_()
for step in range(30):
    (slope,) = torch.autograd.grad(energy(x), x)
    x = x - 0.01 * slope + 0.02 * torch.randn_like(x)  #! 12
print(x.norm(dim=1).mean().item())
