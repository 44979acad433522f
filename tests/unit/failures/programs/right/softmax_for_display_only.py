import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)

    def predict(self, x):
        return F.softmax(self(x), dim=1)


model = Classifier()
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    confidence = F.softmax(logits, dim=1).max(dim=1).values.mean().item()
    predicted = logits.argmax(dim=1)
    print(loss.item(), confidence, (predicted == y).float().mean().item())
