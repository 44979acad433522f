import torch

W = torch.zeros(4, 3, requires_grad=True)
b = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([W, b], lr=0.5)
for i in range(300):
    logits = X @ W + b
    loss = torch.nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
