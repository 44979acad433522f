import torch
import torch.nn as nn
from torchvision import models

model = models.resnet18(weights="DEFAULT")
optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
model.fc = nn.Linear(512, 2)  #! 19
criterion = nn.CrossEntropyLoss()
for inputs, labels in loader:
    optimizer.zero_grad()
    loss = criterion(model(inputs), labels)
    loss.backward()
    optimizer.step()
