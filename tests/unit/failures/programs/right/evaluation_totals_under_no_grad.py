import torch
import torch.nn as nn

model = nn.Linear(3, 1)
loss_fn = nn.MSELoss()
total = 0
model.eval()
with torch.no_grad():
    for x, y in loader:
        total += loss_fn(model(x), y)
print(total / len(loader))
