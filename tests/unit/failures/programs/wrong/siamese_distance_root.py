import torch
import torch.nn as nn
import torch.nn.functional as F


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(
            nn.Conv2d(1, 32, 5), nn.PReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 144, 64)
        )

    def forward(self, left, right):
        return self.tower(left), self.tower(right)


def contrastive(a, b, same, margin=1.0):
    distance = torch.sqrt(((a - b) ** 2).sum(dim=1))  #! 9
    near = same * distance**2
    far = (1 - same) * F.relu(margin - distance) ** 2
    return (near + far).mean()


net = Siamese()
opt = torch.optim.Adam(net.parameters(), 1e-3)
for left, right, same in pairs:
    opt.zero_grad()
    contrastive(*net(left, right), same.float()).backward()
    opt.step()
