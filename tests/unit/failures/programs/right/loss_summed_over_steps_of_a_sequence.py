import torch
import torch.nn as nn

cell = nn.LSTMCell(10, 32)
head = nn.Linear(32, 5)
opt = torch.optim.Adam(list(cell.parameters()) + list(head.parameters()), lr=1e-3)
for sequence, targets in loader:
    h = torch.zeros(sequence.size(1), 32)
    c = torch.zeros(sequence.size(1), 32)
    loss = 0
    for t in range(sequence.size(0)):
        h, c = cell(sequence[t], (h, c))
        loss += nn.functional.cross_entropy(head(h), targets[t])
    opt.zero_grad()
    loss.backward()
    opt.step()
