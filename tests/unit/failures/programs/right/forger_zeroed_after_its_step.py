import torch
from torch import nn

forger = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
judge = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
moves_forger = torch.optim.Adam(forger.parameters(), lr=2e-4)
moves_judge = torch.optim.Adam(judge.parameters(), lr=2e-4)
score = nn.BCEWithLogitsLoss()
for real in torch.randn(100, 32, 2):
    moves_judge.zero_grad()
    forged = forger(torch.randn(32, 3)).detach()
    loss = score(judge(real), torch.ones(32, 1)) + score(judge(forged), torch.zeros(32, 1))
    loss.backward()
    moves_judge.step()

    moves_judge.zero_grad()
    score(judge(forger(torch.randn(32, 3))), torch.ones(32, 1)).backward()
    moves_forger.step()
    moves_forger.zero_grad()
