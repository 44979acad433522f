import numpy as np

from model import MLP, Adam, Tensor

X = np.random.rand(80, 2)
Y = X[:, 0] - X[:, 1]
net = MLP([2, 8, 1])
opt = Adam(net.parameters(), lr=0.01)
for _ in range(200):
    opt.zero_grad()
    pred = net(Tensor(X))
    loss = ((pred - Tensor(Y)) ** 2).mean()  #! 8
    loss.backward()
    opt.step()
