import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
fast = torch.compile(net, backend="aot_eager")
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(6):
    x = torch.randn(16, 4)
    loss = (fast(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
