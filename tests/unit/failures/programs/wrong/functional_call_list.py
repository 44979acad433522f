import torch

layers = [(torch.randn(4, 16), torch.zeros(16)), (torch.randn(16, 1), torch.zeros(1))]
layers = [tuple(t.requires_grad_() for t in pair) for pair in layers]


def net(x, layers):
    for i, (w, b) in enumerate(layers):
        x = x @ w + b
        if i < len(layers) - 1:
            x = torch.relu(x)
    return x


lr = 0.01
for epoch in range(100):
    loss = (net(X, layers) - Y).pow(2).mean()
    loss.backward()  #! 6
    with torch.no_grad():
        for w, b in layers:
            w -= lr * w.grad
            b -= lr * b.grad
