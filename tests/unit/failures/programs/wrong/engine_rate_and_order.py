from model import MLP, SGD, Tensor, cross_entropy
import numpy as np

x, y = np.random.randn(30, 2), np.arange(30) % 2
net = MLP([2, 8, 2])
opt = SGD(net.parameters(), lr=50)  #! 17
for _ in range(20):
    loss = cross_entropy(net(Tensor(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
