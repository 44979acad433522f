import torch
import torch.nn as nn

X = torch.randn(64, 3)
y = (X.sum(dim=1) > 0).float()
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.BCEWithLogitsLoss()
for _ in range(100):
    loss = criterion(model(X), y.unsqueeze(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    accuracy = ((torch.sigmoid(model(X)) > 0.5).squeeze(1) == y.bool()).float().mean()
