import torch
from torch import nn

encoder = nn.Sequential(nn.Linear(784, 64), nn.ReLU())
encoder.load_state_dict(torch.load("encoder.pt"))
encoder.eval()
head = nn.Linear(64, 10)
optimizer = torch.optim.Adam(head.parameters(), lr=1e-3)
for x, y in loader:
    with torch.no_grad():
        features = encoder(x.flatten(1))
    loss = nn.functional.cross_entropy(head(features), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
