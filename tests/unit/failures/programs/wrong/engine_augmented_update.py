from model import Tensor

a = Tensor(2.0)
b = Tensor(-3.0)
lr = 0.05
for step in range(20):
    loss = (a * b + 1) ** 2
    loss.backward()
    a -= lr * a.grad  #! 5|7
    b -= lr * b.grad  #! 5|7
    a.grad = None
    b.grad = None
