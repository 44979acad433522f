import torch
import torch.nn as nn


def detached(h):
    """Cuts hidden states off from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return type(h)(detached(part) for part in h)


class Model(nn.Module):
    def __init__(self, vocab, width, layers):
        super().__init__()
        self.encoder = nn.Embedding(vocab, width)
        self.rnns = nn.ModuleList(nn.LSTM(width, width) for _ in range(layers))
        self.decoder = nn.Linear(width, vocab)
        self.decoder.weight = self.encoder.weight
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def init_hidden(self, n):
        w = next(self.parameters())
        return [(w.new_zeros(1, n, 256), w.new_zeros(1, n, 256)) for _ in self.rnns]

    def forward(self, x, hidden):
        h, new_hidden = self.encoder(x), []
        for rnn, state in zip(self.rnns, hidden):
            h, state = rnn(h, state)
            new_hidden.append(state)
        return self.decoder(h), new_hidden


model = Model(33278, 256, 3)
criterion = nn.CrossEntropyLoss()
lr = 20
for epoch in range(40):
    hidden = model.init_hidden(20)
    for data, targets in batches(train_data):
        hidden = [detached(h) for h in hidden]
        model.zero_grad()
        output, hidden = model(data, hidden)
        loss = criterion(output.view(-1, 33278), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
    lr /= 4.0
