import numpy as np
from model import Tensor

x = Tensor(np.arange(4.0))
y = x * 2
y += 1
z = y.sum()
z -= 3.0
z.backward()
print(x.grad)
