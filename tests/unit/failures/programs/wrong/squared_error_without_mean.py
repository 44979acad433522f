import torch

w = torch.randn(3, 1, requires_grad=True)
X = torch.randn(50, 3)
y = torch.randn(50, 1)
optimizer = torch.optim.SGD([w], lr=0.1)
for i in range(100):
    optimizer.zero_grad()
    loss = (X @ w - y) ** 2  #! 3
    loss.backward()
    optimizer.step()
