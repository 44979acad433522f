import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, n_in, n_hidden, n_tags):
        super().__init__()
        self.rnn = nn.GRU(n_in, n_hidden, batch_first=True)
        self.tags = nn.Linear(n_hidden, n_tags)
        self._state = None

    def reset(self):
        self._state = None

    def forward(self, x):
        out, state = self.rnn(x, self._state)
        self._state = state.detach()
        return self.tags(out)

    def fit(self, songs, optimizer, chunk=100):
        for song, tags in songs:
            self.reset()
            for start in range(0, song.size(1), chunk):
                piece = slice(start, start + chunk)
                optimizer.zero_grad()
                logits = self(song[:, piece])
                loss = nn.functional.cross_entropy(logits.flatten(0, 1), tags[:, piece].flatten())
                loss.backward()
                optimizer.step()
