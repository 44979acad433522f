# A value used twice: messages add up
from model import Tensor

a = Tensor(3.0)
b = Tensor(4.0)
h = a + b
loss = h * h + a
loss.backward()

print("h.grad", h.grad)
print("a.grad", a.grad)
