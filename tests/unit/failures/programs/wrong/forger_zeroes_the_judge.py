import torch
from torch import nn


class Game:
    def __init__(self):
        self.forger = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
        self.judge = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
        self.moves_forger = torch.optim.Adam(self.forger.parameters(), lr=2e-4)
        self.moves_judge = torch.optim.Adam(self.judge.parameters(), lr=2e-4)
        self.score = nn.BCEWithLogitsLoss()

    def teach_judge(self, real):
        self.moves_judge.zero_grad()
        forged = self.forger(torch.randn(len(real), 3)).detach()
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        loss = self.score(self.judge(real), ones) + self.score(self.judge(forged), zeros)
        loss.backward()
        self.moves_judge.step()

    def teach_forger(self, count):
        self.moves_judge.zero_grad()  #! 6
        forged = self.forger(torch.randn(count, 3))
        loss = self.score(self.judge(forged), torch.ones(count, 1))
        loss.backward()
        self.moves_forger.step()


game = Game()
for batch in torch.randn(100, 32, 2):
    game.teach_judge(batch)
    game.teach_forger(32)
