import torch
import torch.nn as nn

scorer = nn.Linear(12, 1)
opt = torch.optim.SGD(scorer.parameters(), lr=0.01)
for good, bad in pairs:
    opt.zero_grad()
    margin = 1.0 - (scorer(good) - scorer(bad)).squeeze(1)
    loss = torch.clamp(margin, min=0)  #! 3
    loss.backward()
    opt.step()
