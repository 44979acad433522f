import torch
from torch import nn

encoder = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))
decoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 64))
params = [*encoder.parameters(), *decoder.parameters()]
optim = torch.optim.Adam(params, lr=1e-3)
mse = nn.MSELoss()


def run_epoch(batches):
    for x in batches:
        code = encoder(x).detach()  #! 11
        optim.zero_grad()
        loss = mse(decoder(code), x)
        loss.backward()
        optim.step()
