import torch
import torch.nn as nn


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        prob = torch.sigmoid(logits)
        pos = target * (1 - prob) ** self.gamma * torch.log(prob)  #! 9
        neg = (1 - target) * prob**self.gamma * torch.log(1 - prob)  #! 9
        return -(pos + neg).mean()


detector = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 1))
focal = FocalLoss()
opt = torch.optim.Adam(detector.parameters(), lr=1e-4)
for img, mask in train_loader:
    opt.zero_grad()
    focal(detector(img), mask).backward()
    opt.step()
