import torch
import torch.nn as nn

model = nn.Linear(7, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in loader:
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    optimizer.step()  #! 18
    loss.backward()
