import torch
import torch.nn as nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, s):
        return torch.softmax(self.head(torch.relu(self.body(s))), dim=-1)


pi = Policy()
opt = torch.optim.Adam(pi.parameters(), lr=1e-2)
for s, a, ret in episodes:
    p = pi(s)
    logp = torch.log(p.gather(1, a.unsqueeze(1)).squeeze(1) + 1e-8)
    entropy = -(p * torch.log(p.clamp_min(1e-8))).sum(-1).mean()
    loss = -(logp * ret).mean() - 0.01 * entropy
    opt.zero_grad()
    loss.backward()
    opt.step()
