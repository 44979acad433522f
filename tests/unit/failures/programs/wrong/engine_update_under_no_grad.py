from model import Tensor, no_grad

w = Tensor([0.5, -0.5], label="w")
for step in range(10):
    loss = ((w - 1.0) ** 2).sum()
    loss.backward()
    with no_grad():
        w -= 0.1 * w.grad  #! 5|7
    w.zero_grad()
