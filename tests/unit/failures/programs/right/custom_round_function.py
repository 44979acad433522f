import torch
from torch import nn


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class FakeQuant(nn.Module):
    def __init__(self, bits=8):
        super().__init__()
        self.levels = 2**bits - 1
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, w):
        s = self.scale.abs() + 1e-6
        return RoundSTE.apply((w / s).clamp(-1, 1) * self.levels) / self.levels * s


class QuantLinear(nn.Linear):
    def __init__(self, *args, bits=4, **kwargs):
        super().__init__(*args, **kwargs)
        self.quant = FakeQuant(bits)

    def forward(self, x):
        return nn.functional.linear(x, self.quant(self.weight), self.bias)


net = nn.Sequential(QuantLinear(784, 100), nn.ReLU(), QuantLinear(100, 10, bits=8))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
for x, y in loader:
    loss = nn.functional.cross_entropy(net(x.flatten(1)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
