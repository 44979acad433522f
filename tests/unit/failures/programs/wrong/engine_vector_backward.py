from model import Tensor

x = Tensor([1.0, 2.0, 3.0])
y = x * x + 1  #! 3
y.backward()
print(x.grad)
