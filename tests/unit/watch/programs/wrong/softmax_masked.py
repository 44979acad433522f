import torch
import torch.nn as nn
torch.manual_seed(0)
q, k = nn.Linear(4, 4), nn.Linear(4, 4)
opt = torch.optim.SGD([*q.parameters(), *k.parameters()], lr=0.01)
for step in range(3):
    x = torch.randn(2, 5, 4)
    pad = torch.zeros(2, 5, dtype=torch.bool)
    pad[1, :] = True
    scores = q(x) @ k(x).transpose(1, 2)
    scores = scores.masked_fill(pad[:, None, :], float("-inf"))
    att = scores.softmax(-1)  #! 9
    loss = (att @ x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
