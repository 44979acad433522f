import torch
import torch.nn as nn
import torch.nn.functional as F

nets = nn.ModuleList(nn.Linear(4, 3) for _ in range(3))
opt = torch.optim.SGD(nets.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 3, (32,))
for _ in range(3):
    probs = torch.stack([n(x).softmax(1) for n in nets]).mean(0)  #! 25
    loss = F.cross_entropy(probs, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
