import torch
import torch.nn as nn


class Forecaster(nn.Module):
    def __init__(self, hidden=51):
        super().__init__()
        self.hidden = hidden
        self.lstm1 = nn.LSTMCell(1, hidden)
        self.linear = nn.Linear(hidden, 1)
        self.state = None

    def forward(self, window):
        if self.state is None:
            zeros = torch.zeros(window.size(0), self.hidden)
            self.state = (zeros, zeros.clone())
        outputs = []
        h, c = self.state
        for x in window.split(1, dim=1):
            h, c = self.lstm1(x, (h, c))
            outputs.append(self.linear(h))
        self.state = (h, c)  #! 11
        return torch.cat(outputs, dim=1)


seq = Forecaster()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(seq.parameters(), lr=0.01)
for window, following in windows:
    optimizer.zero_grad()
    loss = criterion(seq(window), following)
    loss.backward()
    optimizer.step()
