import torch
from torch import nn

layers = [nn.Flatten(), nn.Linear(784, 100), nn.Sigmoid()]
for _ in range(12):
    layers += [nn.Linear(100, 100), nn.Sigmoid()]  #! 15
layers.append(nn.Linear(100, 10))
model = nn.Sequential(*layers)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(5):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
