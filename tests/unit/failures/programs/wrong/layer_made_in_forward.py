import torch
import torch.nn as nn
import torch.nn.functional as F


class LazyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)

    def forward(self, x):
        x = F.relu(self.conv(x)).flatten(1)
        head = nn.Linear(x.shape[1], 10)  #! 19
        return head(x)


net = LazyNet()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    loss = F.cross_entropy(net(torch.randn(4, 1, 12, 12)), torch.randint(0, 10, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
