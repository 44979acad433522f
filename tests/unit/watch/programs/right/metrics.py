import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(64, 4)
y = (x.sum(1, keepdim=True) > 0).float()
history = []
ema = None
for _ in range(12):
    out = net(x)
    loss = nn.functional.binary_cross_entropy_with_logits(out, y)
    opt.zero_grad(); loss.backward(); opt.step()
    acc = ((out > 0).float() == y).float().mean()
    history.append((loss.item(), acc.item()))
    ema = loss.detach() if ema is None else 0.9 * ema + 0.1 * loss.detach()
