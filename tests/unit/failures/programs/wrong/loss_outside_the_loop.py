import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
pred = net(X)
loss = nn.functional.mse_loss(pred, Y)
for i in range(1000):
    opt.zero_grad()
    loss.backward()  #! 2
    opt.step()
