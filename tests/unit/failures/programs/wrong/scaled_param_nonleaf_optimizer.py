import torch

W = torch.randn(10, 3, requires_grad=True) / 10  #! 19
b = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([W, b], lr=0.1)
for x, y in loader:
    loss = torch.nn.functional.cross_entropy(x @ W + b, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
