from model import Tensor

w = Tensor([1.0, 2.0])
for step in range(20):
    loss = ((w - 3.0) ** 2).sum()
    loss.backward()
    w = Tensor(w.data - 0.1 * w.grad)
print(w)
