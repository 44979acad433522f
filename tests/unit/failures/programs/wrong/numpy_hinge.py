import numpy as np
import torch
from torch import nn

svm = nn.Linear(2, 1)
opt = torch.optim.SGD(svm.parameters(), lr=0.01)
X = torch.randn(100, 2)
Y = torch.sign(torch.randn(100, 1))


def hinge(scores, y):
    margins = np.maximum(0, 1 - y.numpy() * scores.detach().numpy())  #! 13|11
    return torch.tensor(margins.mean(), requires_grad=True)


for _ in range(100):
    opt.zero_grad()
    loss = hinge(svm(X), Y)
    loss.backward()
    opt.step()
