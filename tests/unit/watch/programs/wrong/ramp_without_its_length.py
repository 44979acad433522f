import torch
from torch import nn

torch.manual_seed(11)


def ramp(step):
    if step < 30:
        return 1.0 + step  #! 17
    return 30.0


net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.LambdaLR(opt, ramp)
for x in torch.randn(60, 32, 3):
    loss = nn.functional.mse_loss(net(x), x.prod(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
