import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
losses, outputs = [], []
for _ in range(3):
    for _ in range(4):
        x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.detach())
    with torch.no_grad():
        val = 0
        for _ in range(3):
            out = net(x)
            val += F.cross_entropy(out, y)
            outputs.append(out.softmax(1).numpy())
