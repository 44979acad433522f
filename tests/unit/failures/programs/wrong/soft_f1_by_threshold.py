import torch
import torch.nn as nn


def f1_loss(logits, y):
    pred = (torch.sigmoid(logits) > 0.5).float()  #! 21
    tp = (pred * y).sum()
    return 1 - 2 * tp / (pred.sum() + y.sum() + 1e-8)


model = nn.Linear(10, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
X = torch.randn(200, 10)
Y = (X[:, :1] > 0).float()
for epoch in range(5):
    optimizer.zero_grad()
    loss = f1_loss(model(X), Y)
    loss.backward()
    optimizer.step()
