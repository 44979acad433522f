import torch
from torch import nn

lstm = nn.LSTM(10, 20)
optimizer = torch.optim.RMSprop(lstm.parameters(), lr=1e-3)
state = None
for chunk, target in chunks:
    optimizer.zero_grad()
    output, (h, c) = lstm(chunk, state)
    state = (h.detach(), c.detach())
    loss = nn.functional.mse_loss(output, target)
    loss.backward()
    optimizer.step()
