import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv(x))).flatten(1)
        return self.fc(x)


net = Net()
crit = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(2):
    for inputs, labels in trainloader:
        loss = crit(net(inputs), labels)
        loss.backward()
        opt.zero_grad()  #! 18
        opt.step()
