import torch
from torch import nn
torch.manual_seed(32)
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c))
    def forward(self, x):
        out = self.body(x)
        out += x
        return nn.functional.relu(out, inplace=True)
net = nn.Sequential(nn.Conv2d(1, 6, 3), Block(6), Block(6), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(6, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for x in torch.randn(12, 8, 1, 9, 9):
    loss = nn.functional.cross_entropy(net(x), (x.mean((1, 2, 3)) > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
