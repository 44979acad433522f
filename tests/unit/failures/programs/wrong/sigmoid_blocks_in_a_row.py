import torch
import torch.nn as nn
import torch.nn.functional as F


class Blk(nn.Module):
    def __init__(self, i, o, act=torch.sigmoid):
        super().__init__()
        self.fc, self.act = nn.Linear(i, o), act

    def forward(self, x):
        return self.act(self.fc(x))  #! 15


net = nn.Sequential(*[Blk(8, 8) for _ in range(10)], nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randn(32, 1)
for _ in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
