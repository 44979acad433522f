import torch
import torch.nn as nn
torch.manual_seed(0)
body, heads = nn.Linear(4, 8), nn.ModuleList(nn.Linear(8, 1) for _ in range(3))
opt = torch.optim.SGD([*body.parameters(), *heads.parameters()], lr=0.01)
for step in range(10):
    opt.zero_grad()
    for head in heads:
        x = torch.randn(8, 4)
        nn.functional.mse_loss(head(body(x).relu()), x[:, :1]).backward()
    opt.step()
