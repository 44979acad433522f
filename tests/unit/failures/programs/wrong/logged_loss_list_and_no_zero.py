import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))
adam = torch.optim.Adam(net.parameters(), lr=0.01)
epoch_losses = []
for epoch in range(20):
    batch_losses = []
    for xb, yb in loader:
        pred = net(xb)
        loss = ((pred - yb) ** 2).mean()
        loss.backward()  #! 6
        adam.step()
        batch_losses.append(loss)  #! 10
    epoch_losses.append(sum(batch_losses) / len(batch_losses))
