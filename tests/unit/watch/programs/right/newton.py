import torch
torch.manual_seed(16)
x = torch.tensor([-1.2, 1.0], dtype=torch.float64)
def f(p):
    return (1 - p[0]) ** 2 + 10 * (p[1] - p[0] ** 2) ** 2
for _ in range(20):
    p = x.clone().requires_grad_()
    g, = torch.autograd.grad(f(p), p, create_graph=True)
    h = torch.stack([torch.autograd.grad(gi, p, retain_graph=True)[0] for gi in g])
    x = x - torch.linalg.solve(h + 1e-3 * torch.eye(2, dtype=torch.float64), g.detach())
print(x)
