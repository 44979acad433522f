import torch
import torch.nn as nn


class RMSE(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.mse = nn.MSELoss()
        self.eps = eps

    def forward(self, prediction, target):
        return torch.sqrt(self.mse(prediction, target) + self.eps)


model = nn.Linear(3, 1)
criterion = RMSE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
