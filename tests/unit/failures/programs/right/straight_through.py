import torch
import torch.nn as nn


class Quantise(nn.Module):
    def forward(self, x):
        hard = (x > 0).float()
        return x + (hard - x).detach()


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.q = Quantise()

    def forward(self, x, lengths):
        mask = (torch.arange(x.size(1))[None, :] < lengths[:, None]).float()
        return (self.q(self.fc(x)) * mask.unsqueeze(-1)).sum()


model = Masked()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, n in loader:
    optimizer.zero_grad()
    loss = model(x, n)
    loss.backward()
    optimizer.step()
