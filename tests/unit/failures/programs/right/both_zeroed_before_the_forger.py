import torch
from torch import nn

forger = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
judge = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
moves_forger = torch.optim.Adam(forger.parameters(), lr=2e-4)
moves_judge = torch.optim.Adam(judge.parameters(), lr=2e-4)
score = nn.BCEWithLogitsLoss()


def teach_judge(real):
    moves_judge.zero_grad()
    forged = forger(torch.randn(len(real), 3)).detach()
    loss = score(judge(real), torch.ones(len(real), 1)) + score(judge(forged), torch.zeros(len(real), 1))
    loss.backward()
    moves_judge.step()


def teach_forger(count):
    moves_forger.zero_grad()
    moves_judge.zero_grad()
    loss = score(judge(forger(torch.randn(count, 3))), torch.ones(count, 1))
    loss.backward()
    moves_forger.step()


for batch in torch.randn(100, 32, 2):
    teach_judge(batch)
    teach_forger(32)
