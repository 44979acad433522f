import torch

centres = torch.linspace(0, 1, 9)
width = torch.tensor(0.2, requires_grad=True)
weights = torch.zeros(9, requires_grad=True)
x = torch.rand(80)
y = torch.cos(5 * x)


def bumps(points):
    return torch.exp(-((points[:, None] - centres) ** 2) / width**2)


opt = torch.optim.Adam([width, weights], lr=0.01)
for _ in range(400):
    basis = bumps(x)
    loss = ((basis @ weights - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
