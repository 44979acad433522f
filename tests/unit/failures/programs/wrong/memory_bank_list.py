import torch
from torch import nn


class Recorder:
    def __init__(self):
        self.losses = []

    def add(self, loss):
        self.losses.append(loss)

    def mean(self):
        return sum(self.losses) / len(self.losses)


model = nn.GRU(16, 32, batch_first=True)
head = nn.Linear(32, 4)
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=3e-4)
recorder = Recorder()
for epoch in range(100):
    for seq, label in loader:
        optimizer.zero_grad()
        hidden, _ = model(seq)
        loss = nn.functional.cross_entropy(head(hidden[:, -1]), label)
        loss.backward()
        optimizer.step()
        recorder.add(loss)  #! 10
    print(epoch, recorder.mean().item())
