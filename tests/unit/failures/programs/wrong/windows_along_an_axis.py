import numpy as np
import torch
from torch import nn

record = np.random.default_rng(0).standard_normal((500, 3))
cut = np.lib.stride_tricks.sliding_window_view(record, window_shape=8, axis=0)
inputs = torch.tensor(np.ascontiguousarray(cut[:, :, :-1]), dtype=torch.float32)
target = torch.tensor(cut[:, 0, -1].copy(), dtype=torch.float32)


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = nn.GRU(7, 16, batch_first=True)
        self.read = nn.Linear(16, 1)

    def forward(self, x):
        hidden, _ = self.state(x)
        return self.read(hidden[:, -1])


net = Forecast()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(100):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(inputs), target)  #! 8
    loss.backward()
    optimizer.step()
