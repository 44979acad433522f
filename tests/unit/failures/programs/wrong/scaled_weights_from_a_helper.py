import torch


def drawn(rows, columns):
    return torch.randn(rows, columns, requires_grad=True) / rows**0.5  #! 5


x, y = torch.randn(32, 4), torch.randn(32, 1)
first, second = drawn(4, 8), drawn(8, 1)
weights = [first, second]
for _ in range(100):
    loss = ((torch.tanh(x @ first) @ second - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for w in weights:
            w -= 0.1 * w.grad
            w.grad = None
