import torch
import torch.nn.functional as F
from torch import nn


def attack(net, images, labels, rate, turns=5):
    images = images.clone().requires_grad_()
    for _ in range(turns):
        loss = F.cross_entropy(net(images), labels)
        loss.backward()
        with torch.no_grad():
            images.add_(images.grad, alpha=rate)
        images.grad = None
    return images.detach().clamp(0, 1)


net = nn.Sequential(nn.Flatten(), nn.Linear(49, 24), nn.ReLU(), nn.Linear(24, 3)).requires_grad_(False)
print(attack(net, torch.rand(6, 1, 7, 7), torch.randint(0, 3, (6,)), 0.5).mean())
