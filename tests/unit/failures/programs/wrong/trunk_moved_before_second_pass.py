import torch
from torch import nn

trunk = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 5))
left, right = nn.Linear(5, 2), nn.Linear(5, 1)
opt_left = torch.optim.Adam([*trunk.parameters(), *left.parameters()])
opt_right = torch.optim.Adam([*trunk.parameters(), *right.parameters()])
for x, kind, size in [(torch.randn(4, 3), torch.randint(0, 2, (4,)), torch.randn(4, 1))] * 2:
    h = trunk(x)
    which = nn.functional.cross_entropy(left(h), kind)
    much = nn.functional.l1_loss(right(h), size)
    opt_left.zero_grad()
    which.backward(retain_graph=True)
    opt_left.step()  #! 1
    opt_right.zero_grad()
    much.backward()
    opt_right.step()
