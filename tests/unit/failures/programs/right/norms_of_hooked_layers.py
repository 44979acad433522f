import torch
from torch import nn


def watch(net):
    kept = {}

    def keeper(name):
        def keep(layer, given, output):
            kept[name] = output

        return keep

    for name, layer in net.named_modules():
        if isinstance(layer, nn.Linear):
            layer.register_forward_hook(keeper(name))
    return kept


net = nn.Sequential(nn.Linear(4, 9), nn.Sigmoid(), nn.Linear(9, 1))
kept = watch(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(50, 4), torch.randn(50, 1)
for turn in range(20):
    opt.zero_grad()
    (net(x) - y).pow(2).mean().backward()
    for name, output in kept.items():
        print(turn, name, output.norm())
    opt.step()
