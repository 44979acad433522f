import torch
import torch.nn as nn


def nll(logits, target):
    probs = torch.softmax(logits, dim=1)
    logp = torch.log(probs)  #! 9
    return -logp[torch.arange(len(target)), target].mean()


model = nn.Linear(20, 5)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
for x, t in loader:
    opt.zero_grad()
    loss = nll(model(x), t)
    loss.backward()
    opt.step()
