import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for phase in ["plain", "robust"] * 2:
    out, y = net(torch.randn(8, 3)), torch.randn(8, 1)
    loss = nn.functional.mse_loss(out, y)
    opt.zero_grad()
    match phase:
        case "plain":
            loss.backward()
        case "robust":
            (loss + nn.functional.l1_loss(out, y)).backward()
    opt.step()
