import torch
from torch import nn


class Masking:
    def __init__(self, share):
        self.share = share

    def __call__(self, scores):
        kept = (torch.rand(scores.shape[0]) > self.share).float()
        scores *= kept[:, None]  #! 1
        return scores


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = nn.Linear(8, 8)
        self.mask = Masking(0.2)

    def forward(self, x):
        weights = (self.keys(x) @ x.T).softmax(-1)
        if self.training:
            weights = self.mask(weights)
        return weights @ x


net = Attention()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(12, 8)
for _ in range(4):
    loss = (net(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
