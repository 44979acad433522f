import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Linear(8, 4)
temp = torch.tensor(0.07, requires_grad=True)
opt = torch.optim.Adam([*net.parameters(), temp])
bias = torch.zeros(4, requires_grad=True)
for _ in range(5):
    a = net(torch.randn(16, 8)) + bias
    loss = F.cross_entropy(a / temp, torch.randint(0, 4, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        bias -= 0.1 * bias.grad
        bias.grad = None
