import numpy as np
from model import Tensor

places = Tensor(np.array([0.1, 0.5, 0.9]), label="places")
for _ in range(10):
    apart = places.reshape(3, 1) - places
    energy = (-(apart * apart)).exp().sum()
    places.zero_grad()
    energy.backward()
    places.data -= 0.1 * places.grad
