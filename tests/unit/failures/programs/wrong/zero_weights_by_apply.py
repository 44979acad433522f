import torch
import torch.nn as nn


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.zeros_(m.weight)  #! 16
        nn.init.zeros_(m.bias)


model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
model.apply(init_weights)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(500):
    optimizer.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(model(X), T)
    loss.backward()
    optimizer.step()
