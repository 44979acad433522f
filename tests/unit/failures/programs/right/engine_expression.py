from model import Tensor, maximum, where

a = Tensor(2.0, label="a")
b = Tensor([1, 2, 3], label="b")
c = (a * b + b.exp()).sum()
c.backward()
print(a.grad, b.grad)
d = (maximum(a, b) * 3).mean()
d.backward()
print(a.grad)
