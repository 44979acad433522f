import torch
import torch.nn as nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, 32), nn.ReLU())
        self.decoder = nn.Sequential(nn.Linear(32, 784), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


model = Autoencoder()
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for images, _ in loader:
    images = images.view(-1, 784)
    loss = criterion(model(images), images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
