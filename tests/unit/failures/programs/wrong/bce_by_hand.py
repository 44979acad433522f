import torch
import torch.nn as nn


class Logistic(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, 1)

    def forward(self, x):
        return torch.sigmoid(self.lin(x))


model = Logistic(3)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for x, t in loader:
    p = model(x).squeeze(1)
    loss = -(t * torch.log(p) + (1 - t) * torch.log(1 - p)).mean()  #! 9
    opt.zero_grad()
    loss.backward()
    opt.step()
