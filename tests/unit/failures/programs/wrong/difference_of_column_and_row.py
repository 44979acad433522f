import torch

X = torch.rand(100, 2)
y = X[:, 0] * 2 - X[:, 1]
W = torch.zeros(2, 1, requires_grad=True)
opt = torch.optim.SGD([W], lr=0.1)
for epoch in range(100):
    prediction = X @ W
    loss = ((prediction - y) ** 2).mean()  #! 8
    opt.zero_grad()
    loss.backward()
    opt.step()
