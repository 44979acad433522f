import torch
import torch.nn as nn
import torch.nn.functional as F


class SiameseTrainer:
    def __init__(self, net, lr=1e-3):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)

    def train_step(self, a, b, same):
        za, zb = self.net(a), self.net(b)
        distance = F.pairwise_distance(za, zb)
        loss = (same * distance**2 + (1 - same) * F.relu(1 - distance) ** 2).mean()
        loss.backward()  #! 6
        self.optimizer.step()
        return loss.item()

    def fit(self, pairs, epochs):
        for epoch in range(epochs):
            total = 0.0
            for a, b, same in pairs:
                total += self.train_step(a, b, same)
            print(epoch, total / len(pairs))


pairs = [(torch.randn(16, 8), torch.randn(16, 8), torch.randint(0, 2, (16,)).float()) for _ in range(4)]
SiameseTrainer(nn.Linear(8, 4)).fit(pairs, 2)
