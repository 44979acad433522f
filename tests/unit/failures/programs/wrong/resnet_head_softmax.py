import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.fc = nn.Linear(features, classes)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        x = self.fc(x)
        x = self.softmax(x)  #! 25
        return x


def train(head, batches):
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    opt = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    for x, y in batches:
        opt.zero_grad()
        loss = criterion(head(x), y)
        loss.backward()
        opt.step()


train(Head(32, 5), [(torch.randn(8, 32), torch.randint(0, 5, (8,))) for _ in range(4)])
