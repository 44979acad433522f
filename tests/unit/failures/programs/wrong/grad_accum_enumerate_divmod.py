import torch
import torch.nn as nn

ACC = 16
net = nn.Linear(10, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
step = 0
for x, y in loader:
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()  #! 24
    step += 1
    if step % ACC == 0:
        opt.step()
        opt.zero_grad()
