import torch
import torch.nn as nn


class CharRNN(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x, h):
        y, h = self.rnn(self.embed(x), h)
        return self.out(y), h


model = CharRNN(100, 128)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
h = torch.zeros(1, 32, 128)
for x, y in batches:
    h = h.detach()
    opt.zero_grad()
    logits, h = model(x, h)
    loss = nn.functional.cross_entropy(logits.reshape(-1, 100), y.reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
