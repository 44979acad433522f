# A broadcast bias: its gradient is a sum
from model import Tensor

x = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=False)
w = Tensor([[1.0, -1.0], [0.5, 2.0]])
bias = Tensor([0.1, 0.2])  # one row, used for all three

y = x @ w + bias
loss = (y**2).mean()
loss.backward()

print("bias.grad", bias.grad)
