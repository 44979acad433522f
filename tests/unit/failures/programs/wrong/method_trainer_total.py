import torch
import torch.nn as nn


class Learner(object):
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 2))
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=1e-3)
        self.total = 0

    def learn(self, batch):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.total += loss  #! 10


learner = Learner()
for batch in batches:
    learner.learn(batch)
