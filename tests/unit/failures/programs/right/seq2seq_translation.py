import random
import torch
import torch.nn as nn
from torch import optim


class Encoder(nn.Module):
    def __init__(self, n, h):
        super().__init__()
        self.h = h
        self.embedding = nn.Embedding(n, h)
        self.gru = nn.GRU(h, h)

    def forward(self, x, hidden):
        return self.gru(self.embedding(x).view(1, 1, -1), hidden)

    def init_hidden(self):
        return torch.zeros(1, 1, self.h)


class Decoder(nn.Module):
    def __init__(self, h, n):
        super().__init__()
        self.embedding = nn.Embedding(n, h)
        self.gru = nn.GRU(h, h)
        self.out = nn.Linear(h, n)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, x, hidden):
        y = torch.relu(self.embedding(x).view(1, 1, -1))
        y, hidden = self.gru(y, hidden)
        return self.softmax(self.out(y[0])), hidden


def train(inp, target, encoder, decoder, e_opt, d_opt, criterion):
    hidden = encoder.init_hidden()
    e_opt.zero_grad()
    d_opt.zero_grad()
    loss = 0
    for i in range(inp.size(0)):
        out, hidden = encoder(inp[i], hidden)
    token = torch.tensor([[0]])
    for i in range(target.size(0)):
        out, hidden = decoder(token, hidden)
        top, index = out.topk(1)
        token = index.squeeze().detach()
        loss += criterion(out, target[i])
        if token.item() == 1:
            break
    loss.backward()
    e_opt.step()
    d_opt.step()
    return loss.item() / target.size(0)


def main(pairs):
    encoder, decoder = Encoder(1000, 256), Decoder(256, 1000)
    e_opt = optim.SGD(encoder.parameters(), lr=0.01)
    d_opt = optim.SGD(decoder.parameters(), lr=0.01)
    criterion = nn.NLLLoss()
    total = 0
    for pair in pairs:
        total += train(pair[0], pair[1], encoder, decoder, e_opt, d_opt, criterion)
    print(total)
