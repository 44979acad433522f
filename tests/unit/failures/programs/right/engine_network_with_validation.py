import numpy as np

from model import MLP, Adam, Tensor, cross_entropy, no_grad

rng = np.random.default_rng(0)
x, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
net = MLP([2, 32, 2], activation="relu")
opt = Adam(net.parameters(), lr=0.01)
losses = []
for epoch in range(20):
    for i in range(0, 160, 32):
        opt.zero_grad()
        loss = cross_entropy(net(Tensor(x[i : i + 32])), y[i : i + 32])
        loss.backward()
        opt.step()
        losses.append(loss.item())
    with no_grad():
        val = cross_entropy(net(Tensor(x[160:])), y[160:])
    print(epoch, val.item())
