import torch
torch.manual_seed(17)
x = torch.zeros(200, 2)
def energy(p):
    return ((p - 1).square().sum(1) / 0.5).sum()
for _ in range(50):
    p = x.detach().requires_grad_()
    g, = torch.autograd.grad(energy(p), p)
    x = p.detach() - 0.05 * g + (0.1 ** 0.5) * torch.randn_like(p)
print(x.mean(0))
