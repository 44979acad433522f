import torch
import torch.nn as nn


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(100, 32)
        self.rnn = nn.GRU(32, 64)
        self.out = nn.Linear(64, 100)

    def forward(self, x, h=None):
        o, h = self.rnn(self.emb(x), h)
        return self.out(o), h


lm = LM()
opt = torch.optim.Adam(lm.parameters(), lr=2e-3)
h = None
for x, y in chunks:
    if h is not None:
        h = h.detach()
    logits, h = lm(x, h)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(lm.parameters(), 0.25)
    opt.step()
