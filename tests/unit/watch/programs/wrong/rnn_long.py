import torch
import torch.nn as nn
torch.manual_seed(0)
cell = nn.RNN(1, 16, batch_first=True)  #! 15
head = nn.Linear(16, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
for _ in range(10):
    x = torch.randn(8, 100, 1)
    h, _h = cell(x)
    loss = (head(h[:, -1]) - x[:, 0]).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
