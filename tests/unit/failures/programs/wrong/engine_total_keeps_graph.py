import numpy as np

from model import MLP, SGD, Tensor, cross_entropy

rng = np.random.default_rng(0)
net = MLP([4, 8, 3])
opt = SGD(net.parameters(), lr=0.1)
batches = [(rng.normal(size=(10, 4)), rng.integers(0, 3, 10)) for _ in range(8)]
for epoch in range(3):
    total = 0.0
    for xb, yb in batches:
        opt.zero_grad()
        loss = cross_entropy(net(Tensor(xb)), yb)
        loss.backward()
        opt.step()
        total += loss  #! 10
    print(total / len(batches))
