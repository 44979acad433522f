from model import Tensor

x = Tensor(4.0, label="x")
for i in range(30):
    loss = (x - 1) ** 2
    x.grad = None
    loss.backward()
    x.data += 0.1 * x.grad  #! 18
