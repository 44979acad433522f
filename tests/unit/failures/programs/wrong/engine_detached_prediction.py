from model import MLP, SGD, Tensor, mse_loss
import numpy as np

net = MLP([3, 8, 1])
opt = SGD(net.parameters(), lr=0.1)
x, y = np.ones((4, 3)), np.zeros((4, 1))
for _ in range(10):
    pred = net(Tensor(x)).detach()  #! 11
    loss = mse_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
