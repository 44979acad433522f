import torch
import torch.nn as nn

from collections import OrderedDict

net = nn.Sequential(
    OrderedDict(
        [
            ("body", nn.Sequential(nn.Linear(4, 8), nn.ReLU())),
            ("fc", nn.Linear(8, 3)),
            ("prob", nn.Softmax(dim=1)),  #! 25
        ]
    )
)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 3, (32,))
crit = nn.CrossEntropyLoss()
for _ in range(3):
    loss = crit(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
