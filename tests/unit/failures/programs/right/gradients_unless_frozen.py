import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, frozen):
        super().__init__()
        self.frozen = frozen
        self.feat, self.head = nn.Linear(8, 16), nn.Linear(16, 2)

    def forward(self, x):
        with torch.set_grad_enabled(not self.frozen):
            z = torch.relu(self.feat(x))
        return self.head(z)


net = Net(frozen=False)
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(32, 8), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
