import torch

x, y = torch.randn(50, 3), torch.randn(50, 1)
w = torch.randn(3, 1, requires_grad=True)
for i in range(50):
    loss = (x @ w - y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        w = w - 1e-2 * w.grad  #! 4|12
