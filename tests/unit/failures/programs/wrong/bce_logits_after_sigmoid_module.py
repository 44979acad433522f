import torch
import torch.nn as nn


class Spam(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, 32)
        self.fc = nn.Linear(32, 1)
        self.act = nn.Sigmoid()

    def forward(self, ids, offsets):
        return self.act(self.fc(self.emb(ids, offsets))).squeeze(1)  #! 25


m = Spam(1000)
crit = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(m.parameters())
for ids, off, y in loader:
    opt.zero_grad()
    crit(m(ids, off), y.float()).backward()
    opt.step()
