import torch
import torch.nn as nn

text = open("shakespeare.txt").read()
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}
data = torch.tensor([index[c] for c in text])


class CharLSTM(nn.Module):
    def __init__(self, vocab, size=128):
        super().__init__()
        self.embed = nn.Embedding(vocab, size)
        self.lstm = nn.LSTM(size, size, batch_first=True)
        self.out = nn.Linear(size, vocab)

    def forward(self, x, state=None):
        h, state = self.lstm(self.embed(x), state)
        return self.out(h), state


model = CharLSTM(len(chars))
opt = torch.optim.RMSprop(model.parameters(), lr=2e-3)
state = None
for step in range(0, len(data) - 65, 64):
    x = data[step : step + 64].unsqueeze(0)
    y = data[step + 1 : step + 65].unsqueeze(0)
    logits, state = model(x, state)  #! 11
    loss = nn.functional.cross_entropy(logits.view(-1, len(chars)), y.view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
