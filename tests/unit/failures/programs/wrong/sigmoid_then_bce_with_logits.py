import torch
import torch.nn as nn


class Binary(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, 1))
        self.act = nn.Sigmoid()

    def forward(self, x):
        return self.act(self.body(x))  #! 25


model = Binary(12)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    optimizer.zero_grad(set_to_none=True)
    loss = criterion(model(x), y.unsqueeze(1).float())
    loss.backward()
    optimizer.step()
