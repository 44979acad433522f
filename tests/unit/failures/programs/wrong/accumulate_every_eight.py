import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(640, 10), torch.randint(0, 2, (640,)))
loader = DataLoader(data, batch_size=8)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
ACCUM = 8
optimizer.zero_grad()
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    loss.backward()  #! 24
    if i % ACCUM == ACCUM - 1:
        optimizer.step()
        optimizer.zero_grad()
