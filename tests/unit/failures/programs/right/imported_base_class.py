import torch
from mylib import BaseModel
from torch import nn


class Net(BaseModel):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 3), nn.Linear(3, 1)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(3):
    opt.zero_grad()
    nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1)).backward()
    opt.step()
