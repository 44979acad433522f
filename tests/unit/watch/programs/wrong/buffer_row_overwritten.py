import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.tensor(0.5, requires_grad=True)
track = torch.zeros(6)
track[0] = 1.0
for i in range(5):
    track[i + 1] = (track[i] * w).tanh()  #! 1
track[-1].backward()
