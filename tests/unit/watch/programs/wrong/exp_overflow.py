import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(32, 4) * 200, torch.randint(3, (32,))
for _ in range(5):
    e = torch.exp(net(x))  #! 9
    p = e / e.sum(1, keepdim=True)
    loss = -torch.log(p[range(32), y]).mean()
    opt.zero_grad(); loss.backward(); opt.step()
