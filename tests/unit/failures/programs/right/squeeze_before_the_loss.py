import torch
import torch.nn as nn
import torch.nn.functional as F

X = torch.randn(200, 5)
y = torch.randn(200)
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(300):
    optimizer.zero_grad()
    pred = model(X).squeeze(1)
    loss = F.mse_loss(pred, y)
    loss.backward()
    optimizer.step()
