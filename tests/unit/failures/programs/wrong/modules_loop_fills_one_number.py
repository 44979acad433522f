import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 16), nn.Linear(16, 1)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data.fill_(0.1)  #! 16
                m.bias.data.zero_()

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
for _ in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
