import torch
import torch.nn as nn


def sgd_update(params, grads, lr):
    with torch.no_grad():
        for p, g in zip(params, grads):
            p -= lr * g


net = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 1))
data = torch.randn(256, 13)
target = torch.randn(256, 1)

for it in range(500):
    out = net(data)
    err = (out - target).pow(2).mean()
    err.backward()  #! 6
    sgd_update(net.parameters(), [p.grad for p in net.parameters()], lr=1e-2)
    if it % 50 == 0:
        print(it, err.item())
