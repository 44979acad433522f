import torch
import torch.nn as nn

net = nn.Conv2d(1, 1, 3, padding=1)
opt = torch.optim.Adam(net.parameters())
bce = nn.BCEWithLogitsLoss()
scores = []
for _ in range(4):
    x, mask = torch.randn(2, 1, 16, 16), torch.randint(0, 2, (2, 1, 16, 16)).float()
    out = net(x)
    loss = bce(out, mask)
    opt.zero_grad()
    loss.backward()
    opt.step()
    pred = (torch.sigmoid(out) > 0.5).float()
    dice = 2 * (pred * mask).sum() / (pred.sum() + mask.sum() + 1e-8)
    scores.append(dice.item())
