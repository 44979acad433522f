import copy
import torch
import torch.nn as nn
import torch.nn.functional as F


class BYOL(nn.Module):
    def __init__(self, net, dim):
        super().__init__()
        self.online = net
        self.predictor = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.target = copy.deepcopy(net)
        for p in self.target.parameters():
            p.requires_grad = False

    @torch.no_grad()
    def update_target(self, tau=0.99):
        for o, t in zip(self.online.parameters(), self.target.parameters()):
            t.data = tau * t.data + (1 - tau) * o.data

    def forward(self, a, b):
        pa, pb = self.predictor(self.online(a)), self.predictor(self.online(b))
        with torch.no_grad():
            ta, tb = self.target(a), self.target(b)
        return (2 - 2 * F.cosine_similarity(pa, tb, dim=-1)).mean() + (
            2 - 2 * F.cosine_similarity(pb, ta, dim=-1)
        ).mean()


learner = BYOL(nn.Linear(64, 32), 32)
opt = torch.optim.Adam(learner.parameters(), lr=3e-4)
for a, b in pairs:
    loss = learner(a, b)
    opt.zero_grad()
    loss.backward()
    opt.step()
    learner.update_target()
