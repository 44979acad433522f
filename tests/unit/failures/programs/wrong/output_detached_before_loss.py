import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(100):
    optimizer.zero_grad()
    out = model(x_train).detach()  #! 11
    loss = criterion(out, y_train)
    loss.backward()
    optimizer.step()
