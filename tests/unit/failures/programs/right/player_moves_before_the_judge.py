import torch
from torch import nn

player, judge = nn.Linear(4, 2), nn.Linear(6, 1)
plays = torch.optim.Adam(player.parameters(), lr=1e-3)
judges = torch.optim.Adam(judge.parameters(), lr=1e-3)
for turn in range(50):
    state, move, score = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1)
    wrong = (judge(torch.cat([state, move], 1)) - score).pow(2).mean()
    worse = -judge(torch.cat([state, player(state).tanh()], 1)).mean()
    for opt, loss in ((plays, worse), (judges, wrong)):
        opt.zero_grad()
        loss.backward()
        opt.step()
