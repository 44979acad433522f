import torch
import torch.nn as nn


class LM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, x):
        h, _ = self.rnn(self.embed(x))
        return self.out(h)


model = LM(40, 16)
opt = torch.optim.Adam(model.parameters())
for _ in range(3):
    t = torch.randint(0, 40, (4, 12))
    loss = nn.functional.cross_entropy(model(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
