import numpy as np
import torch
from torch import nn


def correlation(guess, truth):
    return np.corrcoef(guess.numpy().ravel(), truth.numpy().ravel())[0, 1]  #! 13


model = nn.Linear(2, 1)
opt = torch.optim.Adam(model.parameters())
inputs, truth = torch.randn(9, 2), torch.randn(9, 1)
for _ in range(4):
    guess = model(inputs)
    loss = nn.functional.l1_loss(guess, truth)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(correlation(guess, truth))
