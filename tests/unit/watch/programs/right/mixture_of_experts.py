import torch
from torch import nn
torch.manual_seed(12)
class MoE(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.gate, self.experts = nn.Linear(d, k), nn.ModuleList(nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, d)) for _ in range(k))
    def forward(self, x):
        p = self.gate(x).softmax(1)
        top, which = p.topk(1, 1)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows = (which[:, 0] == e).nonzero()[:, 0]
            if len(rows):
                out = out.index_add(0, rows, top[rows] * expert(x[rows]))
        share = nn.functional.one_hot(which[:, 0], p.shape[1]).float().mean(0)
        return x + out, (share * p.mean(0)).sum() * p.shape[1]
net = MoE(8, 4)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for x in torch.randn(20, 48, 8):
    y, balance = net(x)
    loss = nn.functional.mse_loss(y, x.flip(1)) + 0.01 * balance
    opt.zero_grad()
    loss.backward()
    opt.step()
