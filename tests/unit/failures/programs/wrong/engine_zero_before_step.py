import numpy as np

from model import MLP, SGD, Tensor, mse_loss

net = MLP([1, 16, 1], activation="tanh")
opt = SGD(net.parameters(), lr=0.1)
x = np.linspace(-1, 1, 40).reshape(-1, 1)
y = np.sin(3 * x)
for epoch in range(200):
    loss = mse_loss(net(Tensor(x)), y)
    loss.backward()
    opt.zero_grad()  #! 18
    opt.step()
