import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x.flatten(1)))
        return F.relu(self.fc2(x))  #! 14


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in train_loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
