import torch
from torch import nn


class CRF(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.transitions = nn.Parameter(torch.empty(tags, tags))
        nn.init.uniform_(self.transitions, -0.1, 0.1)

    def score(self, emissions, tags, mask):
        total = emissions[0].gather(1, tags[0].unsqueeze(1)).squeeze(1)
        for t in range(1, len(emissions)):
            step = emissions[t].gather(1, tags[t].unsqueeze(1)).squeeze(1) + self.transitions[tags[t - 1], tags[t]]
            total = total + step * mask[t]
        return total

    def partition(self, emissions, mask):
        alpha = emissions[0]
        for t in range(1, len(emissions)):
            following = torch.logsumexp(alpha.unsqueeze(2) + self.transitions + emissions[t].unsqueeze(1), dim=1)
            alpha = torch.where(mask[t].bool().unsqueeze(1), following, alpha)
        return alpha.logsumexp(1)

    def forward(self, emissions, tags, mask):
        return (self.partition(emissions, mask) - self.score(emissions, tags, mask)).mean()


class Tagger(nn.Module):
    def __init__(self, words, tags):
        super().__init__()
        self.embed = nn.Embedding(words, 100, padding_idx=0)
        self.lstm = nn.LSTM(100, 100, bidirectional=True)
        self.emit = nn.Linear(200, tags)
        self.crf = CRF(tags)

    def forward(self, sentences, tags):
        mask = (sentences != 0).float()
        h, _ = self.lstm(self.embed(sentences))
        return self.crf(self.emit(h), tags, mask)


def train(tagger, batches, optimizer):
    tagger.train()
    for number, (sentences, tags) in enumerate(batches):
        tagger.zero_grad()
        loss = tagger(sentences, tags)
        loss.backward()
        torch.nn.utils.clip_grad_value_(tagger.parameters(), 5)
        optimizer.step()
        if number % 100 == 0:
            yield number, loss.item()
