import numpy as np
from model import MLP, Adam, cross_entropy

points = np.random.default_rng(1).normal(size=(20, 2))
labels = (points[:, 0] > 0).astype(int)
net = MLP([2, 6, 2], "tanh", rng=0)
opt = Adam(net.parameters(), lr=0.01)


def improve():
    loss = cross_entropy(net(points), labels)
    loss.backward()  #! 6
    opt.step()
    return loss.item()


curve = [improve() for _ in range(100)]
