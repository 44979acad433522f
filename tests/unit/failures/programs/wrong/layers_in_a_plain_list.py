import torch
import torch.nn as nn


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]  #! 19
        self.out = nn.Linear(sizes[-1], 10)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.out(x)


model = MLP([784, 128, 64])
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in loader:
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x.flatten(1)), y)
    loss.backward()
    opt.step()
