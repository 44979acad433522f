import numpy as np

import model as engine

net = engine.MLP([2, 8, 3])
opt = engine.SGD(net.parameters(), lr=0.5)
x = np.random.default_rng(0).normal(size=(30, 2))
y = np.arange(30) % 3
for _ in range(100):
    probs = net(engine.Tensor(x)).softmax(axis=1)  #! 25
    loss = engine.cross_entropy(probs, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
