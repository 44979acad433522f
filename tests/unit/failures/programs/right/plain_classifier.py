import torch
import torch.nn as nn
from torch.utils.data import DataLoader

model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(5):
    running = 0.0
    for images, labels in DataLoader(train_set, batch_size=64, shuffle=True):
        optimizer.zero_grad()
        outputs = model(images)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running += loss.item() * images.size(0)
    print(epoch, running / len(train_set))
