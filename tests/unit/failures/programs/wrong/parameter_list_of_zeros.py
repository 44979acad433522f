import torch
import torch.nn as nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.ws = nn.ParameterList(nn.Parameter(torch.zeros(a, b)) for a, b in zip(sizes, sizes[1:]))  #! 16

    def forward(self, x):
        for i, w in enumerate(self.ws):
            x = x @ w
            if i < len(self.ws) - 1:
                x = torch.tanh(x)
        return x


net = MLP([4, 8, 1])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for _ in range(5):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
