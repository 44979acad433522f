# Two passes without zero_grad
from model import Tensor

w = Tensor(1.0)
x, target = 2.0, 6.0

for step in range(2):
    loss = (w * x - target) ** 2
    loss.backward()
    print("step", step, "gradient", w.grad)
    w.data -= 0.05 * w.grad  # w.grad = None is missing
