import torch
import torch.nn as nn
from torch.utils.data import DataLoader

model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
criterion = nn.CrossEntropyLoss()
loader = DataLoader(train_set, batch_size=64, shuffle=True)

for epoch in range(5):
    for images, labels in loader:
        images = images.view(images.size(0), -1)
        outputs = model(images)
        loss = criterion(outputs, labels)
        loss.backward()  #! 6
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
