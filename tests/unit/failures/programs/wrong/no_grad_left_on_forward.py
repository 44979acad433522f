import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.fc = nn.Linear(8, 10)

    @torch.no_grad()  #! 12
    def features(self, x):
        return torch.relu(self.conv(x)).mean(dim=(2, 3))

    def forward(self, x):
        return self.fc(self.features(x))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,))
for _ in range(5):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
