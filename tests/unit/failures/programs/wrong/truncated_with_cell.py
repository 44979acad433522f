import torch
import torch.nn as nn

cell = nn.LSTMCell(4, 8)
readout = nn.Linear(8, 1)
opt = torch.optim.Adam([*cell.parameters(), *readout.parameters()])
h, c = torch.zeros(1, 8), torch.zeros(1, 8)
for x, y in stream:
    h, c = cell(x, (h, c))  #! 11
    loss = (readout(h) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
