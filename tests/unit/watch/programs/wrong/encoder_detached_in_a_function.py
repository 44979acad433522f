import torch
from torch import nn


def train():
    encoder, decoder = nn.Linear(6, 2), nn.Linear(2, 6)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
    for _ in range(5):
        x = torch.randn(8, 6)
        code = encoder(x).detach()  #! 11
        loss = nn.functional.mse_loss(decoder(code), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train()
