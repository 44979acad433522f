import numpy as np
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for x, y in pairs:
    out = net(x)
    err = out.detach().numpy() - y.numpy()  #! 13
    loss = torch.tensor(np.mean(err**2), requires_grad=True)
    opt.zero_grad()
    loss.backward()
    opt.step()
