import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
ce = nn.CrossEntropyLoss()
for _ in range(10):
    x, y = torch.randn(32, 8), torch.randint(3, (32,))
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(4):
        grad, = torch.autograd.grad(ce(net(x + delta), y), delta)
        with torch.no_grad():
            delta += 0.03 * grad.sign()
            delta.clamp_(-0.1, 0.1)
    loss = ce(net(x + delta.detach()), y)
    opt.zero_grad(); loss.backward(); opt.step()
