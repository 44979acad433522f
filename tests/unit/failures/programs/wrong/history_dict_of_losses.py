import torch
from torch import nn, optim

history = {"loss": [], "acc": []}
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(5408, 10))
opt = optim.Adam(model.parameters(), 1e-3)
for epoch in range(4):
    for x, y in loader:
        out = model(x)
        loss = nn.CrossEntropyLoss()(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        history["loss"].append(loss)  #! 10
        history["acc"].append((out.argmax(1) == y).float().mean().item())
