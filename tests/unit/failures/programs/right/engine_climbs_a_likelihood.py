import numpy as np
from model import Tensor

data = np.random.default_rng(0).normal(1.0, 1.0, 30)
centre = Tensor(0.0, label="centre")
for _ in range(20):
    log_likelihood = (-0.5 * (data - centre) ** 2).mean()
    centre.zero_grad()
    log_likelihood.backward()
    centre.data += 0.2 * centre.grad
