import torch
import torch.nn as nn

net = nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-2)


def total_loss(batch):
    s = 0.0
    for x, y in batch:
        s += float((net(x) - y).pow(2))  #! 13
    return torch.tensor(s / len(batch), requires_grad=True)


for batch in batches:
    opt.zero_grad()
    loss = total_loss(batch)
    loss.backward()
    opt.step()
