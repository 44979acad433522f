import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
state = torch.load("last.pt")
model.load_state_dict(state["model"])
optimizer.load_state_dict(state["optimizer"])
start = state["epoch"] + 1
for epoch in range(start, 100):
    for batch, (x, y) in enumerate(loader):
        pred = model(x).squeeze(-1)
        loss = nn.functional.huber_loss(pred, y)
        optimizer.zero_grad()
        loss.backward()
        if torch.isnan(loss):
            optimizer.zero_grad()
            continue
        optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "last.pt")
