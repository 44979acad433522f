import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x):
        return self.l(x)


m = Model()
o = torch.optim.SGD(m.parameters(), lr=1e-2)
for x, t in loader:
    loss = nn.functional.cross_entropy(m(x), t)
    loss.backward()
    m.zero_grad()  #! 18
    o.step()
