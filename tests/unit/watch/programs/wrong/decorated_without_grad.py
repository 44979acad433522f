import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = torch.optim.Adam(net.parameters())


@torch.no_grad()  #! 12
def one_epoch(batches):
    for x, y in batches:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


data = [(torch.randn(4, 3), torch.tensor([0, 1, 1, 0])) for _ in range(2)]
for _ in range(3):
    one_epoch(data)
