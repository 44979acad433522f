import torch
from torch import nn


class RandomFeatures(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 300)
        self.readout = nn.Linear(300, 1, bias=False)

    def forward(self, x):
        with torch.no_grad():
            features = torch.cos(self.hidden(x)) * (1 / self.hidden.out_features) ** 0.5
        return self.readout(features)


model = RandomFeatures()
opt = torch.optim.SGD(model.readout.parameters(), lr=8.0)
x = torch.rand(400, 2)
y = torch.sin(2 * x[:, :1])
for step in range(500):
    loss = (model(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
