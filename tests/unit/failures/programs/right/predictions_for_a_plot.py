import numpy as np
import torch
from torch import nn

model = nn.Linear(1, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(9, 1), torch.randn(9, 1)
frames = []
for _ in range(4):
    guess = model(x)
    opt.zero_grad()
    nn.functional.mse_loss(guess, y).backward()
    opt.step()
    frames.append(guess.detach().numpy().copy())
print(np.stack(frames).shape)
