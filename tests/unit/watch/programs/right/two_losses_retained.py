import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
body, a, b = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
opt = torch.optim.SGD([*body.parameters(), *a.parameters(), *b.parameters()], lr=0.01)
for _ in range(5):
    h = body(torch.randn(5, 4)).tanh()
    opt.zero_grad()
    a(h).pow(2).mean().backward(retain_graph=True)
    b(h).pow(2).mean().backward()
    opt.step()
