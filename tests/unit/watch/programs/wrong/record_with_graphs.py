import torch


class Record:
    def __init__(self):
        self.entries = []

    def keep(self, step, **values):
        self.entries.append((step, values))


w = torch.ones(3, requires_grad=True)
record = Record()
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(6):
    out = w * torch.randn(3)
    loss = out.square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    record.keep(step, out=out)  #! 10
