import torch
import torch.nn as nn
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
memory = []
class Step:
    def __init__(self, value, reward):
        self.value, self.reward = value, reward
for _ in range(10):
    state = torch.randn(4)
    value = net(state).max()
    memory.append(Step(value, 1.0))  #! 10
    loss = (net(torch.randn(6, 4)) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
