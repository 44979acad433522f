import torch
from torch import nn

torch.manual_seed(6)


class Forget:
    def run(self, state):
        state["opt"].zero_grad()


class Move:
    def run(self, state):
        state["opt"].step()


net = nn.Linear(4, 2)
state = {"opt": torch.optim.RMSprop(net.parameters(), lr=0.01)}
plugins = [Forget(), Move()]  #! 18
for x in torch.randn(10, 16, 4):
    nn.functional.cross_entropy(net(x), (x.sum(1) > 0).long()).backward()
    for plugin in plugins:
        plugin.run(state)
