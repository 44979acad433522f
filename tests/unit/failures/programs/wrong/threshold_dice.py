import torch
import torch.nn as nn


def dice_loss(pred, mask):
    pred = (torch.sigmoid(pred) > 0.5).float()  #! 21
    inter = (pred * mask).sum()
    return 1 - 2 * inter / (pred.sum() + mask.sum() + 1e-6)


unet = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1))
opt = torch.optim.AdamW(unet.parameters())
for img, m in scans:
    opt.zero_grad()
    loss = dice_loss(unet(img), m)
    loss.backward()
    opt.step()
