import math
import torch
import torch.nn as nn


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, 2)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid = nhid
        self.init_weights()

    def init_weights(self):
        self.encoder.weight.data.uniform_(-0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        self.decoder.weight.data.uniform_(-0.1, 0.1)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.encoder(x), hidden)
        return self.decoder(out.view(-1, self.nhid)), hidden

    def init_hidden(self, n):
        weight = next(self.parameters())
        return weight.new_zeros(2, n, self.nhid), weight.new_zeros(2, n, self.nhid)


def repackage(h):
    return tuple(v.detach() for v in h)


def train(model, batches, lr, clip=0.25):
    model.train()
    criterion = nn.CrossEntropyLoss()
    total_loss = 0.0
    hidden = model.init_hidden(20)
    for i, (data, targets) in enumerate(batches):
        model.zero_grad()
        hidden = repackage(hidden)
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        total_loss += loss.item()
        if i % 200 == 0 and i > 0:
            print(math.exp(total_loss / 200))
            total_loss = 0


train(RNNModel(100, 32, 64), batches, 20)
