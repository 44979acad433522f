import numpy as np

from model import Tensor, MLP, Adam, cross_entropy

rng = np.random.default_rng(3)
x = rng.normal(size=(60, 2))
labels = (x[:, 0] > 0).astype(int)
net = MLP([2, 8, 2], rng=rng)
optimizer = Adam(net.parameters(), lr=0.01)
history = []
for epoch in range(100):
    order = rng.permutation(60)
    for start in range(0, 60, 20):
        rows = order[start : start + 20]
        loss = cross_entropy(net(Tensor(x[rows])), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss)  #! 10
