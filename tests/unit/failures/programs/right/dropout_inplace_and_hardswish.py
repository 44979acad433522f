import torch
import torch.nn as nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(32, 64), nn.Linear(64, 4)

    def forward(self, x):
        x = F.relu(self.fc1(x), inplace=True)
        x = F.dropout(x, 0.5, self.training, inplace=False)
        return self.fc2(x)


net = Head()
opt = torch.optim.Adam(net.parameters())
loss = F.cross_entropy(net(torch.randn(8, 32)), torch.randint(0, 4, (8,)))
loss.backward()
opt.step()
