import torch
import torch.nn as nn
import torch.nn.functional as F

model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
image = torch.rand(1, 1, 28, 28)
label = torch.tensor([3])
adv = image.clone().requires_grad_(True)
for i in range(10):
    loss = F.cross_entropy(model(adv), label)
    loss.backward()
    adv = adv - 0.01 * adv.grad  #! 5
