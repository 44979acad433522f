import torch
import torch.nn as nn
import torch.nn.functional as F


class T:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)

    def grads(self, x, y):
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        return loss

    def apply(self):
        self.opt.zero_grad()  #! 18
        self.opt.step()


t = T(nn.Linear(4, 1))
for _ in range(10):
    t.grads(torch.randn(8, 4), torch.randn(8, 1))
    t.apply()
