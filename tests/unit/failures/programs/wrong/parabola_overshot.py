import torch

lr = 1.5  #! 17
x = torch.tensor(5.0, requires_grad=True)
for i in range(20):
    loss = x**2
    loss.backward()
    with torch.no_grad():
        x -= lr * x.grad
    x.grad = None
