import torch
import torch.nn as nn

encoder = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 8))
decoder = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 784))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)  #! 19
for x, _ in loader:
    x = x.flatten(1)
    code = encoder(x)
    loss = nn.functional.mse_loss(decoder(code), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
