import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).requires_grad_(False)
x, y = torch.randn(5, 8), torch.randint(0, 3, (5,))
delta = (torch.randn(5, 8) * 0.01).requires_grad_()
for step in range(10):
    loss = nn.functional.cross_entropy(net(x + delta), y)
    loss.backward()
    with torch.no_grad():
        delta += 0.3 * delta.grad / delta.grad.norm(dim=1, keepdim=True)
        delta.grad.zero_()
