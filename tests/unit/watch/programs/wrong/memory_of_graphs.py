from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
seen = deque(maxlen=50)
for _ in range(8):
    x = torch.randn(4, 3)
    seen.append({"x": x, "score": net(x).log_softmax(1)[:, 0]})  #! 10
    loss = net(torch.stack([old["x"] for old in seen])).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
