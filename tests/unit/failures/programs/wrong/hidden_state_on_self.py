import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 32)
        self.fc = nn.Linear(32, 5)
        self.hidden = (torch.zeros(1, 1, 32), torch.zeros(1, 1, 32))

    def forward(self, x):
        out, self.hidden = self.lstm(x, self.hidden)  #! 11
        return self.fc(out.view(len(x), -1))


model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for sentence, tags in data:
    model.zero_grad()
    loss = nn.functional.cross_entropy(model(sentence), tags)
    loss.backward()
    optimizer.step()
