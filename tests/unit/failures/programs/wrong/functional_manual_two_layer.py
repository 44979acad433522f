import torch

x, y = torch.randn(50, 3), torch.randn(50, 1)
w1 = torch.randn(3, 16, requires_grad=True)
w2 = torch.randn(16, 1, requires_grad=True)
for i in range(50):
    loss = ((x @ w1).relu() @ w2 - y).pow(2).mean()
    loss.backward()  #! 6
    with torch.no_grad():
        w1 -= 1e-3 * w1.grad
        w2 -= 1e-3 * w2.grad
