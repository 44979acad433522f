import torch
import torch.nn as nn

rnn = nn.LSTM(8, 64)
proj = nn.Linear(64, 8)
opt = torch.optim.RMSprop(list(rnn.parameters()) + list(proj.parameters()), lr=1e-3)
song = torch.randn(1000, 1, 8)
state = (torch.zeros(1, 1, 64), torch.zeros(1, 1, 64))
for start in range(0, 960, 32):
    window = song[start : start + 32]
    nxt = song[start + 1 : start + 33]
    opt.zero_grad()
    out, state = rnn(window, state)  #! 11
    loss = nn.functional.mse_loss(proj(out), nxt)
    loss.backward()
    opt.step()
