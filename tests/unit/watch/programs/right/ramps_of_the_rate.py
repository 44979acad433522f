import torch
from torch import nn

torch.manual_seed(11)


def ramp(length):
    def factor(step):
        if step < length:
            return (step + 1) / length
        return (length / (step + 1)) ** 0.5

    return factor


def rate_for(workers, per_worker=0.002):
    return per_worker * workers


def train(schedule_of):
    net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))
    opt = torch.optim.SGD(
        net.parameters(),
        lr=rate_for(workers=8),
    )
    schedule = schedule_of(opt)
    for x in torch.randn(40, 32, 3):
        loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()


train(lambda opt: torch.optim.lr_scheduler.LambdaLR(opt, ramp(10)))
train(lambda opt: torch.optim.lr_scheduler.LambdaLR(opt, lambda step: 1 + step / 20))
train(lambda opt: torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.05, total_steps=41))
