import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()
for x, y in loader:
    optimizer.zero_grad()
    predicted = model(x).argmax(dim=1).float()  #! 21
    loss = criterion(predicted, y.float())
    loss.backward()
    optimizer.step()
