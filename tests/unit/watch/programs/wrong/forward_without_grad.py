import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
with torch.no_grad():  #! 12
    out = net(x)
loss = F.cross_entropy(out, y)
loss.backward()
opt.step()
