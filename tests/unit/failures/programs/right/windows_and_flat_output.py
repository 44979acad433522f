import numpy as np
import torch
from torch import nn

series = np.sin(np.arange(400) / 5.0)
pieces = np.lib.stride_tricks.sliding_window_view(series, window_shape=9)
past = torch.tensor(pieces[:, :-1], dtype=torch.float32).unsqueeze(-1)
following = torch.tensor(pieces[:, -1].copy(), dtype=torch.float32)


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = nn.LSTM(1, 16, batch_first=True)
        self.read = nn.Linear(16, 1)

    def forward(self, x):
        hidden, _ = self.state(x)
        return self.read(hidden[:, -1]).squeeze(-1)


net = Forecast()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(100):
    optimizer.zero_grad()
    loss = ((net(past) - following) ** 2).mean()
    loss.backward()
    optimizer.step()
