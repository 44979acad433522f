import numpy as np
from model import MLP, SGD, mse_loss


def data(n):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (n, 1))
    return x, np.sin(3 * x[:, 0])


x, y = data(40)
net = MLP([1, 8, 1], "tanh", rng=0)
opt = SGD(net.parameters(), lr=0.1)
for _ in range(50):
    opt.zero_grad()
    loss = mse_loss(net(x), y)  #! 8
    loss.backward()
    opt.step()
