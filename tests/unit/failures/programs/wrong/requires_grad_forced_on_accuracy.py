import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
X = torch.randn(90, 4)
labels = torch.randint(0, 3, (90,))

for epoch in range(30):
    optimizer.zero_grad()
    outputs = model(X)
    predicted = torch.argmax(outputs, dim=1)  #! 21
    loss = criterion(predicted.float(), labels.float())
    loss.requires_grad = True  #! 4
    loss.backward()
    optimizer.step()
