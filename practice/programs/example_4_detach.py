# A detach: no message passes
from model import Tensor

w = Tensor(2.0)
x = Tensor(3.0)
h = w * x
target = h.detach()  # the same number, without its history
loss = h * target
loss.backward()

print("w.grad", w.grad)  # without the detach it is twice as large
