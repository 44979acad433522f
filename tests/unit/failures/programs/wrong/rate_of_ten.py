import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(10, 50), nn.ReLU(), nn.Linear(50, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=10.0)  #! 17
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
