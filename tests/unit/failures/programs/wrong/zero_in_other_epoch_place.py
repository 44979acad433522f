import torch
import torch.nn as nn


class Runner:
    def __init__(self, net: nn.Module, lr: float):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr)
        self.crit = nn.CrossEntropyLoss()

    def run_epoch(self, loader):
        self.opt.zero_grad()  #! 6
        for xb, yb in loader:
            out = self.net(xb)
            loss = self.crit(out, yb)
            loss.backward()
            self.opt.step()


runner = Runner(nn.Linear(3, 3), 0.1)
for _ in range(10):
    runner.run_epoch(train_loader)
