import torch
import torch.nn as nn
import torch.nn.functional as F


class FocalLoss(nn.Module):
    def __init__(self, gamma=2):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        ce = F.cross_entropy(logits, target, reduction="none")
        pt = torch.exp(-ce)
        return ((1 - pt) ** self.gamma * ce).mean()


class DiceLoss(nn.Module):
    def forward(self, logits, target, smooth=1):
        p = torch.sigmoid(logits).view(-1)
        t = target.view(-1)
        inter = (p * t).sum()
        dice = (2.0 * inter + smooth) / (p.sum() + t.sum() + smooth)
        return 1 - dice + F.binary_cross_entropy(p, t, reduction="mean")


model = nn.Conv2d(1, 3, 1)
focal = FocalLoss()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for x, y in loader:
    loss = focal(model(x), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
