from model import Tensor

x = Tensor([1.0, 2.0, 3.0])
y = (x * x).sum()
y.backward()
print(x.grad)
x.zero_grad()
y.backward()  #! 2
