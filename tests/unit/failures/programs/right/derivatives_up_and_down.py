import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
image = torch.randn(1, 4, requires_grad=True)
for _ in range(20):  # an attack climbs
    loss = nn.functional.cross_entropy(net(image), torch.tensor([0]))
    (slope,) = torch.autograd.grad(loss, image)
    with torch.no_grad():
        image += 0.1 * slope

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
velocity = torch.zeros(3)
for turn in range(20):
    loss = (w - torch.arange(3.0)).pow(2).mean()
    (slope,) = torch.autograd.grad(loss, w)
    velocity = 0.9 * velocity - 0.1 * slope
    with torch.no_grad():
        w += velocity
for turn in range(20):
    if turn > 0:
        optimizer.step()
        optimizer.zero_grad()
    (w**2).sum().backward()
