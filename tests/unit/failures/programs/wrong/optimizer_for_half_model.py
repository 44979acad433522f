import torch
import torch.nn as nn


class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(20, 4)
        self.decoder = nn.Linear(4, 20)

    def forward(self, x):
        return self.decoder(torch.relu(self.encoder(x)))


model = AE()
optimizer = torch.optim.Adam(model.decoder.parameters(), lr=1e-3)  #! 19
for _ in range(10):
    x = torch.rand(8, 20)
    loss = nn.functional.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
