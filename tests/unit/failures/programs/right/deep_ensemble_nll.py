import torch
from torch import nn
from torch.nn import functional as F

SIZE = 5


class Gaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(1, 50), nn.ReLU(), nn.Linear(50, 2))

    def forward(self, x):
        mean, raw = self.f(x).chunk(2, dim=-1)
        return mean, F.softplus(raw) + 1e-4


def nll(mean, variance, y):
    return 0.5 * (torch.log(variance) + (y - mean) ** 2 / variance).mean()


ensemble = nn.ModuleList([Gaussian() for _ in range(SIZE)])
optimizers = [torch.optim.Adam(m.parameters(), lr=1e-2) for m in ensemble]
for x, y in loader:
    for member, optimizer in zip(ensemble, optimizers):
        optimizer.zero_grad()
        nll(*member(x), y).backward()
        optimizer.step()

with torch.no_grad():
    means, variances = zip(*(m(x_test) for m in ensemble))
means, variances = torch.stack(means), torch.stack(variances)
spread = (variances + means**2).mean(0) - means.mean(0) ** 2
