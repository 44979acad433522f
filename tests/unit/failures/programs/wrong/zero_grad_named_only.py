import torch
from torch import nn

net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
sgd = torch.optim.SGD(net.parameters(), lr=0.02)
x = torch.linspace(0, 6, 50).unsqueeze(1)


def turn():
    sgd.zero_grad  #! 6
    loss = nn.functional.mse_loss(net(x), torch.sin(x))
    loss.backward()
    sgd.step()
    return loss.item()


losses = [turn() for _ in range(3)]
for _ in range(300):
    losses.append(turn())
