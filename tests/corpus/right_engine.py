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


# %% engine grad cleared in place (read)
import numpy as np
from model import Tensor

w = Tensor(np.ones(3))
for _ in range(10):
    loss = ((w - 2.0) ** 2).sum()
    loss.backward()
    w.data[:] = w.data - 0.1 * w.grad
    w.grad[:] = 0.0


# %% engine reads middle gradient (read)
from model import Tensor

a, b = Tensor(2.0), Tensor(3.0)
c = a * b
d = c + a
d.backward()
print(a.grad, b.grad, c.grad)
