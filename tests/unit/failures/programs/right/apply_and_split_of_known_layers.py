import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value = nn.Linear(width, width)
        self.open = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.sigmoid(self.open(x)) * torch.relu(self.value(x))


def closed(part):
    if isinstance(part, Gate):
        nn.init.constant_(part.open.bias, -6.0)
    elif isinstance(part, nn.Linear):
        nn.init.zeros_(part.bias)


x = torch.rand(60, 4)
train, held_out = random_split(TensorDataset(x, x.sum(1, keepdim=True)), [48, 12])
net = nn.Sequential(*[Gate(4) for _ in range(3)], nn.Linear(4, 1))
net.apply(closed)
optimizer = torch.optim.Adam(net.parameters())
for inputs, wanted in DataLoader(train, batch_size=12):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(inputs), wanted)
    loss.backward()
    optimizer.step()
