import torch
from torch import nn

LENGTH = 40


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.RNN(2, 10)
        nn.init.orthogonal_(self.memory.weight_hh_l0, 0.4)  #! 15
        self.end = nn.Linear(10, 1)

    def forward(self, rows):
        out, _ = self.memory(rows)
        return self.end(out[-1])


net = Last()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(20):
    rows = torch.randn(LENGTH, 16, 2)
    loss = nn.functional.mse_loss(net(rows), rows[0, :, :1])
    opt.zero_grad()
    loss.backward()
    opt.step()
