import torch
from torch import nn
torch.manual_seed(21)
class SimSiam(nn.Module):
    def __init__(self):
        super().__init__()
        self.f, self.h = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8)), nn.Linear(8, 8)
    def forward(self, a, b):
        za, zb = self.f(a), self.f(b)
        cos = nn.functional.cosine_similarity
        return -(cos(self.h(za), zb.detach()).mean() + cos(self.h(zb), za.detach()).mean()) / 2
net = SimSiam()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for x in torch.randn(15, 32, 8):
    loss = net(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
