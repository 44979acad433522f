import torch
import torchvision
from torch import nn, optim

NUM_CLASSES = 37
net = torchvision.models.mobilenet_v3_small(weights="DEFAULT")
for p in net.features.parameters():
    p.requires_grad_(False)

optimizer = optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.01, momentum=0.9)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.1)

net.classifier = nn.Sequential(  #! 19
    nn.Linear(576, 256),
    nn.Hardswish(),
    nn.Dropout(0.2),
    nn.Linear(256, NUM_CLASSES),
)

for epoch in range(20):
    net.train()
    for images, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(net(images), labels)
        loss.backward()
        optimizer.step()
    scheduler.step()
