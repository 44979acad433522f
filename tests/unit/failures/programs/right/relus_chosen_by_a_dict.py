import torch
import torch.nn as nn
import torch.nn.functional as F

ACT = {"relu": nn.ReLU, "sig": nn.Sigmoid}


def mlp(sizes, act="relu"):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), ACT[act]()]
    return nn.Sequential(*layers[:-1])


net = mlp([2] + [32] * 10 + [2])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 2), torch.randint(0, 2, (32,))
for _ in range(5):
    scores = torch.stack([net(x), net(x + 0.1)]).mean(0)
    loss = F.cross_entropy(scores / 0.5, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
p = scores.softmax(1) / 0.5
