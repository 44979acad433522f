import torch
from torch import nn


class Heat:
    def __init__(self, net, layer):
        self.net = net
        layer.register_forward_hook(self.keep)

    def keep(self, layer, given, output):
        self.seen = output  #! 5

    def of(self, image, label):
        self.net.zero_grad()
        self.net(image)[:, label].sum().backward()
        return (self.seen.grad * self.seen).mean(1)


net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(144, 3))
print(Heat(net, net[0]).of(torch.randn(2, 1, 8, 8), 0))
