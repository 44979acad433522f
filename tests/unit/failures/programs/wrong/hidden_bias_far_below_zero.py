import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 12), nn.Linear(12, 1)
        nn.init.constant_(self.first.bias, -20)  #! 14

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))


gate = Gate()
opt = torch.optim.SGD(gate.parameters(), lr=0.1)
for x, y in [(torch.rand(4, 3), torch.rand(4, 1))] * 5:
    opt.zero_grad()
    nn.functional.mse_loss(gate(x), y).backward()
    opt.step()
