import torch
import torch.nn as nn

model = nn.Linear(5, 2)
s1 = torch.zeros(1, requires_grad=True)
s2 = torch.zeros(1, requires_grad=True)
opt = torch.optim.Adam([*model.parameters(), s1, s2], lr=1e-2)
x, y = torch.randn(40, 5), torch.randn(40, 2)
for _ in range(10):
    out = model(x)
    l1 = (out[:, 0] - y[:, 0]).pow(2).mean()
    l2 = (out[:, 1] - y[:, 1]).abs().mean()
    w1 = float(torch.exp(-s1))  #! 13
    w2 = float(torch.exp(-s2))  #! 13
    loss = w1 * l1 + w2 * l2
    opt.zero_grad()
    loss.backward()
    opt.step()
