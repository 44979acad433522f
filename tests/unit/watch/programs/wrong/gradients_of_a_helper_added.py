import torch
from torch import nn

torch.manual_seed(12)
net = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def add_gradients(part):
    loss = nn.functional.cross_entropy(net(part), part[:, :3].argmax(1))
    loss.backward()  #! 24
    return loss.item()


for x in torch.randn(6, 32, 5):
    opt.zero_grad()
    total = sum(add_gradients(part) for part in x.split(8))
    opt.step()
    print(total / 4)
