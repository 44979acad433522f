import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
holdout = [(torch.randn(5, 4), torch.randint(0, 2, (5,))) for _ in range(6)]


def scores_of(model, batches):
    model.eval()
    scores = []
    for inputs, _ in batches:
        scores.append(model(inputs))  #! 10|12
    return torch.cat(scores)


for epoch in range(4):
    print((scores_of(model, holdout).argmax(dim=1) == 0).float().mean())
