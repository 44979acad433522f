import torch

w = torch.randn(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
x, y = torch.randn(40, 3), torch.randn(40)
optimizer = torch.optim.SGD([w, b], lr=0.05)
for step in range(200):
    optimizer.zero_grad()
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    ahead = []
    with torch.no_grad():
        for leaf in (w, b):
            leaf = leaf - 0.05 * leaf.grad
            ahead.append(leaf)
        print(step, ((x @ ahead[0] + ahead[1] - y) ** 2).mean().item())
    optimizer.step()
