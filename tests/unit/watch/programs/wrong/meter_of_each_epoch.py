import torch
import torch.nn as nn


def fit(net, opt):
    for _ in range(2):
        running = 0
        for _ in range(6):
            loss = net(torch.randn(8, 4)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss  #! 10
        print(running / 6)


net = nn.Linear(4, 1)
fit(net, torch.optim.SGD(net.parameters(), lr=0.01))
