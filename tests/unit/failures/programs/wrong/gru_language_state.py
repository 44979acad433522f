import torch
import torch.nn as nn


class CharGRU(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, x, state):
        out, state = self.gru(self.embed(x), state)
        return self.head(out), state


model = CharGRU(50, 64)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()
text = torch.randint(0, 50, (8, 201))
state = torch.zeros(1, 8, 64)
for i in range(0, 200, 20):
    x, y = text[:, i : i + 20], text[:, i + 1 : i + 21]
    logits, state = model(x, state)  #! 11
    loss = criterion(logits.reshape(-1, 50), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
