import torch
from torchvision import models

net = models.vgg16(weights="DEFAULT").eval()
image = torch.rand(1, 3, 224, 224, requires_grad=True)
optimizer = torch.optim.Adam([image], lr=0.1, weight_decay=1e-6)
for i in range(30):
    optimizer.zero_grad()
    activation = net(image)[0, 130]
    loss = -activation
    loss.backward()
    optimizer.step()
