import torch
import torch.nn as nn

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    with torch.no_grad():  #! 12
        pred = model(x)
        loss = nn.functional.mse_loss(pred, y)
    loss.backward()
    optimizer.step()
