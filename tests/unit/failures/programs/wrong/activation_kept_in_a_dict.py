import torch
import torch.nn as nn

net1, net2 = nn.Linear(4, 8), nn.Linear(8, 1)
acts = {}
x = torch.randn(16, 4)
acts["h"] = torch.relu(net1(x))  #! 5
loss = net2(acts["h"]).mean()
loss.backward()
print(acts["h"].grad.norm())
