import numpy as np
import torch

x_np = np.linspace(0, 1, 100)
y_np = 3 * x_np + 1
X = torch.tensor(x_np, dtype=torch.float32).reshape(-1, 1)
y = torch.tensor(y_np, dtype=torch.float32)
model = torch.nn.Linear(1, 1)
criterion = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(100):
    y_pred = model(X)
    loss = criterion(y_pred, y)  #! 8
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
