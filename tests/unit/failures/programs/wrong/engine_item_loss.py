import numpy as np

from model import MLP, SGD, Tensor, mse_loss

net = MLP([2, 4, 1])
opt = SGD(net.parameters(), lr=0.05)
x = np.ones((5, 2))
y = np.zeros((5, 1))
for _ in range(10):
    opt.zero_grad()
    loss = Tensor(mse_loss(net(Tensor(x)), y).item())  #! 13|4
    loss.backward()
    opt.step()
