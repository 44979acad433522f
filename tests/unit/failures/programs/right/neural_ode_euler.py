import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, dim, width=50):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, width), nn.Tanh(), nn.Linear(width, dim))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


def integrate(field, y0, times):
    ys = [y0]
    for t0, t1 in zip(times, times[1:]):
        y = ys[-1]
        ys.append(y + (t1 - t0) * field(t0, y))
    return torch.stack(ys)


class RunningAverage:
    def __init__(self, momentum=0.99):
        self.momentum, self.val = momentum, None

    def update(self, val):
        self.val = val if self.val is None else self.val * self.momentum + val * (1 - self.momentum)


field = Field(2)
optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-3)
meter = RunningAverage()
for itr in range(2000):
    optimizer.zero_grad()
    y0, times, truth = get_batch()
    prediction = integrate(field, y0, times)
    loss = torch.mean(torch.abs(prediction - truth))
    loss.backward()
    optimizer.step()
    meter.update(loss.item())
