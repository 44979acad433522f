import numpy as np
from model import MLP, SGD, Tensor, cross_entropy

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 2))
labels = (x[:, 0] > 0).astype(int)
net = MLP([2, 16, 2], activation="relu")
optimizer = SGD(net.parameters(), lr=0.1)
for epoch in range(50):
    loss = cross_entropy(net(Tensor(x)), labels)
    loss.backward()  #! 6
    optimizer.step()
    print(epoch, loss.item())
