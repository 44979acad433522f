import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 24)
        self.norm = nn.LayerNorm(24)
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.body(x))))


torch.manual_seed(0)
net = Net()
for name, parameter in net.named_parameters():
    if "body" in name:
        parameter.requires_grad = False
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.01)
x, y = torch.randn(60, 8), torch.randint(3, (60,))
for _ in range(5):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
