import torch

w1 = torch.randn(4, 8, requires_grad=True) * 0.1  #! 5
w2 = (torch.randn(8, 1) * 0.1).requires_grad_()
x = torch.randn(16, 4)
y = torch.randn(16, 1)
for step in range(100):
    hidden = torch.tanh(x @ w1)
    loss = ((hidden @ w2 - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w1 -= 0.1 * w1.grad
        w2 -= 0.1 * w2.grad
        w1.grad.zero_()
        w2.grad.zero_()
