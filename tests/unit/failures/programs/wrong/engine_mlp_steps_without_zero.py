import numpy as np

import model

rng = np.random.default_rng(1)
net = model.MLP([2, 16, 2], activation="tanh")
optimizer = model.Adam(net.parameters(), lr=0.01)
points = rng.normal(size=(100, 2))
labels = (points[:, 0] * points[:, 1] > 0).astype(int)
for epoch in range(50):
    loss = model.cross_entropy(net(model.Tensor(points)), labels)
    loss.backward()  #! 6
    optimizer.step()
    print(epoch, loss.item())
