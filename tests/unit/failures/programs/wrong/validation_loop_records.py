import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
seen = DataLoader(TensorDataset(torch.randn(80, 6), torch.randn(80, 1)), batch_size=20)
held = DataLoader(TensorDataset(torch.randn(40, 6), torch.randn(40, 1)), batch_size=20)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


def score(network, batches):
    network.eval()
    total = 0.0
    for x, y in batches:
        guess = network(x)  #! 12
        total += nn.functional.mse_loss(guess, y).item()
    return total / len(batches)


for epoch in range(4):
    net.train()
    for x, y in seen:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
    print(score(net, held))
