import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 10, 5)
        self.fc = nn.Linear(1440, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv(x), 2))
        return F.log_softmax(self.fc(x.view(-1, 1440)), dim=1)


model = Net()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for data, target in train_loader:
    opt.zero_grad()
    output = model(data)
    loss = F.nll_loss(output, target)
    loss.backward()
    opt.step()
