import torch
from torch import nn

pi = nn.Linear(4, 3)
opt = torch.optim.Adam(pi.parameters())
for s, r in [(torch.randn(6, 4), torch.randn(6, 3))] * 2:
    logp = torch.log_softmax(pi(s), 1)
    a = torch.multinomial(logp.exp(), 1)
    loss = -(logp.gather(1, a) * r.gather(1, a)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
