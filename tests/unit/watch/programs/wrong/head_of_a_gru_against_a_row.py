import torch
from torch import nn

torch.manual_seed(14)
gru, head = nn.GRU(3, 12, batch_first=True), nn.Linear(12, 1)
opt = torch.optim.Adam([{"params": gru.parameters()}, {"params": head.parameters(), "lr": 1e-2}], lr=3e-3)
x = torch.randn(120, 7, 3)
target = x.sum((1, 2))
step = 0
while step < 12:
    part = torch.randint(120, (30,))
    state = gru(x[part])[1][0]
    loss = nn.functional.smooth_l1_loss(head(state), target[part])  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
    step += 1
