import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
@torch.compile(backend="eager")
def loss_of(x, y):
    return nn.functional.cross_entropy(net(x), y)
for _ in range(6):
    loss = loss_of(torch.randn(16, 4), torch.randint(3, (16,)))
    opt.zero_grad(); loss.backward(); opt.step()
