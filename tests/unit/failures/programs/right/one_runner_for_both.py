import torch
import torch.nn as nn
import torch.nn.functional as F


class Runner:
    def __init__(self, net, amp=False, log=True):
        self.net, self.amp, self.log = net, amp, log
        self.opt = torch.optim.Adam(net.parameters())
        self.seen = []

    def epoch(self, loader, train=True):
        self.net.train(train)
        total = 0.0
        with torch.set_grad_enabled(train):
            for x, y in loader:
                loss = F.mse_loss(self.net(x), y)
                if train:
                    self.opt.zero_grad()
                    loss.backward()
                    self.opt.step()
                total += loss.item()
        if self.log:
            self.seen.append(total)
        return total


data = [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(4)]
r = Runner(nn.Linear(3, 1))
for ep in range(3):
    r.epoch(data)
    r.epoch(data, train=False)
