import torch
from torch import nn

net = nn.GRU(2, 4)
out = nn.Linear(4, 1)
opt = torch.optim.Adam([*net.parameters(), *out.parameters()])
seqs = [(torch.randn(5, 1, 2), torch.randn(5, 1, 1)) for _ in range(8)]
for epoch in range(2):
    per_step = []
    for x, y in seqs:
        h, _ = net(x)
        per_step.append((out(h) - y).pow(2))
    loss = torch.stack(per_step)  #! 3
    opt.zero_grad()
    loss.backward()
    opt.step()
