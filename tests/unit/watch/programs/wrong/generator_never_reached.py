import torch
from torch import nn

torch.manual_seed(0)
maker, judge = nn.Linear(3, 2), nn.Linear(2, 1)
for_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
for_judge = torch.optim.Adam(judge.parameters(), lr=1e-3)
score = nn.BCEWithLogitsLoss()
for _ in range(4):
    made = maker(torch.randn(6, 3)).detach()  #! 11
    for_judge.zero_grad()
    score(judge(made), torch.zeros(6, 1)).backward()
    for_judge.step()
    for_maker.zero_grad()
    score(judge(made), torch.ones(6, 1)).backward()
    for_maker.step()
