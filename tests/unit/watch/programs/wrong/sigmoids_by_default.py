import torch
from torch import nn

torch.manual_seed(0)


class Deep(nn.Module):
    def __init__(self, width, depth, activation=nn.Sigmoid):  #! 15
        super().__init__()
        layers = []
        for _ in range(depth):
            layers.append(nn.Linear(width, width))
            layers.append(activation())
        self.stack = nn.Sequential(*layers, nn.Linear(width, 2))

    def forward(self, x):
        return self.stack(x)


net = Deep(16, 9)
x = torch.randn(40, 16)
y = (x[:, 0] > 0).long()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(10):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
