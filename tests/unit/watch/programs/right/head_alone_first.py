import torch
import torch.nn as nn
torch.manual_seed(0)
# an optimizer of both, in a warm-up that trains the head alone
enc, head = nn.Linear(4, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.01)
for epoch in range(10):
    h = enc(torch.randn(4, 4))
    loss = head(h.detach() if epoch < 5 else h).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
