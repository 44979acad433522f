from model import Tensor

a, b = Tensor(2.0), Tensor(3.0)
c = a * b
d = c + a
d.backward()
print(a.grad, b.grad, c.grad)
