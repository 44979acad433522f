import torch
from torch import nn
import torch.nn.functional as F

SOS, EOS, LONGEST = 0, 1, 50


class Attention(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.Wa, self.Ua, self.Va = nn.Linear(n, n), nn.Linear(n, n), nn.Linear(n, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class Decoder(nn.Module):
    def __init__(self, n, vocab):
        super().__init__()
        self.embedding = nn.Embedding(vocab, n)
        self.attention = Attention(n)
        self.gru = nn.GRU(2 * n, n, batch_first=True)
        self.out = nn.Linear(n, vocab)

    def forward(self, memory, hidden, target=None):
        token = torch.full((memory.size(0), 1), SOS, dtype=torch.long)
        outputs = []
        for i in range(LONGEST):
            context, _ = self.attention(hidden.permute(1, 0, 2), memory)
            out, hidden = self.gru(torch.cat((self.embedding(token), context), dim=2), hidden)
            logits = self.out(out)
            outputs.append(logits)
            if target is not None:
                token = target[:, i].unsqueeze(1)
            else:
                _, top = logits.topk(1)
                token = top.squeeze(-1).detach()
        return F.log_softmax(torch.cat(outputs, dim=1), dim=-1), hidden


def train_epoch(loader, encoder, decoder, enc_opt, dec_opt, criterion):
    total = 0
    for source, target in loader:
        enc_opt.zero_grad()
        dec_opt.zero_grad()
        memory, hidden = encoder(source)
        outputs, _ = decoder(memory, hidden, target)
        loss = criterion(outputs.view(-1, outputs.size(-1)), target.view(-1))
        loss.backward()
        enc_opt.step()
        dec_opt.step()
        total += loss.item()
    return total / len(loader)


encoder, decoder = Encoder(), Decoder(128, 3000)
criterion = nn.NLLLoss(ignore_index=EOS)
enc_opt = torch.optim.Adam(encoder.parameters(), lr=1e-3)
dec_opt = torch.optim.Adam(decoder.parameters(), lr=1e-3)
for epoch in range(80):
    print(train_epoch(loader, encoder, decoder, enc_opt, dec_opt, criterion))
