import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.gate = nn.Linear(d, k)
        self.experts = [nn.Linear(d, 1) for _ in range(k)]  #! 19

    def forward(self, x):
        weights = self.gate(x).softmax(1)
        outs = torch.cat([expert(x) for expert in self.experts], dim=1)
        return (weights * outs).sum(1)


torch.manual_seed(32)
net = Mixture(4, 3)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for x in torch.randn(20, 32, 4):
    loss = nn.functional.mse_loss(net(x), x[:, 0] * x[:, 1])
    opt.zero_grad()
    loss.backward()
    opt.step()
