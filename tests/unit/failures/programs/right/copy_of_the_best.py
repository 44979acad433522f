import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(8, 2)
best = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    best.load_state_dict(net.state_dict())
with torch.no_grad():
    print(best(x).sum())
