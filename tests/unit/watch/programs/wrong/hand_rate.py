import torch
torch.manual_seed(0)
w = torch.randn(3, 1, requires_grad=True)
x = torch.randn(50, 3) * 3
y = x @ torch.tensor([[1.0], [2.0], [3.0]])
lr = 0.5  #! 17
for _ in range(30):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
        w.grad.zero_()
