import torch
from torch import nn

torch.manual_seed(2)


def rate_for(workers, per_worker=0.5):
    return per_worker * workers


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(
    net.parameters(),
    lr=rate_for(workers=32),  #! 17
    momentum=0.5,
)
for x in torch.randn(20, 32, 4):
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
