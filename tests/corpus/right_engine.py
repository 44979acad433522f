# %% engine climbs a likelihood (read)
import numpy as np
from model import Tensor

data = np.random.default_rng(0).normal(1.0, 1.0, 30)
centre = Tensor(0.0, label="centre")
for _ in range(20):
    log_likelihood = (-0.5 * (data - centre) ** 2).mean()
    centre.zero_grad()
    log_likelihood.backward()
    centre.data += 0.2 * centre.grad


# %% engine reads middle gradient (read)
from model import Tensor

a, b = Tensor(2.0), Tensor(3.0)
c = a * b
d = c + a
d.backward()
print(a.grad, b.grad, c.grad)


# %% engine training (read)
import numpy as np
from model import Tensor, cross_entropy, no_grad
from nn import MLP, SGD, clip_grad_norm

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 2))
labels = (x[:, 0] * x[:, 1] > 0).astype(int)
net = MLP([2, 32, 2], activation="tanh")
optimizer = SGD(net.parameters(), lr=0.3, momentum=0.9)
for epoch in range(100):
    net.zero_grad()
    loss = cross_entropy(net(Tensor(x)), labels)
    loss.backward()
    clip_grad_norm(net.parameters(), 5.0)
    optimizer.step()
    with no_grad():
        accuracy = (net(Tensor(x)).data.argmax(axis=1) == labels).mean()
    print(epoch, loss.item(), accuracy)
