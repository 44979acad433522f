import numpy as np
from model import Linear, SGD, Tensor, mse_loss

x = np.linspace(-1, 1, 40).reshape(40, 1)
y = np.linspace(-1, 1, 40) ** 2
layer = Linear(1, 1)
opt = SGD(layer.parameters(), lr=0.1)
for i in range(100):
    out = layer(Tensor(x))
    loss = ((out - y) ** 2).mean()  #! 8
    layer.zero_grad()
    loss.backward()
    opt.step()
