import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
body, a, b = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
h = body(torch.randn(5, 4)).tanh()
first = a(h).pow(2).mean()
second = b(h).pow(2).mean()
first.backward()  #! 2
second.backward()
