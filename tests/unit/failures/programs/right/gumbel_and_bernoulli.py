import torch
import torch.nn.functional as F
from torch import nn

net = nn.Linear(5, 4)
opt = torch.optim.Adam(net.parameters())
for x, reward in loader:
    logits = net(x)
    hard = F.gumbel_softmax(logits, tau=1.0, hard=True)
    probs = torch.sigmoid(logits)
    sample = torch.bernoulli(probs).detach()
    log_prob = sample * torch.log(probs + 1e-6) + (1 - sample) * torch.log(1 - probs + 1e-6)
    loss = -(log_prob.sum(1) * (reward - reward.mean())).mean() + hard.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
