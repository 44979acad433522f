import torch
from torch import nn


class ConvLSTMCell(nn.Module):
    def __init__(self, i, h, k=3):
        super().__init__()
        self.h = h
        self.gates = nn.Conv2d(i + h, 4 * h, k, padding=k // 2)

    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.gates(torch.cat([x, h], 1)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h, c


class Video(nn.Module):
    def __init__(self, channels=1, hidden=(32, 16)):
        super().__init__()
        sizes = (channels, *hidden)
        self.cells = nn.ModuleList([ConvLSTMCell(a, b) for a, b in zip(sizes, sizes[1:])])
        self.last = nn.Conv2d(hidden[-1], channels, 1)

    def forward(self, frames):
        n, t, _, h, w = frames.shape
        states = [(frames.new_zeros(n, c.h, h, w), frames.new_zeros(n, c.h, h, w)) for c in self.cells]
        for i in range(t):
            x = frames[:, i]
            for layer, cell in enumerate(self.cells):
                states[layer] = cell(x, states[layer])
                x = states[layer][0]
        return self.last(x)


net = Video()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
losses = []
for clip in clips:
    predicted = net(clip[:, :-1])
    loss = nn.functional.mse_loss(predicted, clip[:, -1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach().cpu())
print(torch.stack(losses).mean())
