import torch
import torch.nn as nn
cell, head = nn.GRUCell(3, 8), nn.Linear(8, 4)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(6, 5, 3), torch.randint(4, (6, 5))
for _ in range(10):
    h, outs = torch.zeros(6, 8), []
    for t in range(5):
        h = cell(x[:, t], h)
        outs.append(torch.softmax(head(h), dim=-1))  #! 25
    probs = torch.stack(outs, dim=1)
    loss = nn.functional.cross_entropy(probs.reshape(-1, 4), y.reshape(-1))
    opt.zero_grad(); loss.backward(); opt.step()
