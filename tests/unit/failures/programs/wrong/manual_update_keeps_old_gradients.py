import torch

w = torch.zeros(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
X = torch.randn(100, 3)
y = X @ torch.tensor([1.0, -2.0, 0.5]) + 0.3
lr = 0.05

for step in range(200):
    pred = X @ w + b
    loss = ((pred - y) ** 2).mean()
    loss.backward()  #! 6
    with torch.no_grad():
        w -= lr * w.grad
        b -= lr * b.grad
    if step % 20 == 0:
        print(step, loss.item())
