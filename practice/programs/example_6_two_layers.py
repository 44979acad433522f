# Two layers and cross entropy
import numpy as np

from model import Tensor, cross_entropy
from nn import MLP, SGD

x = Tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], requires_grad=False)
labels = np.array([0, 1, 1, 0])

net = MLP([2, 3, 2], activation="tanh", rng=1)
optimizer = SGD(net.parameters(), lr=0.5)

for step in range(3):
    optimizer.zero_grad()
    loss = cross_entropy(net(x), labels)
    loss.backward()
    optimizer.step()
    print("step", step, "loss", round(loss.item(), 4))
