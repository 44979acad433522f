import torch

W1 = torch.zeros(2, 8, requires_grad=True)  #! 16
b1 = torch.zeros(8, requires_grad=True)
W2 = torch.zeros(8, 1, requires_grad=True)
b2 = torch.zeros(1, requires_grad=True)
params = [W1, b1, W2, b2]
opt = torch.optim.SGD(params, lr=0.5)
for i in range(2000):
    h = torch.relu(X @ W1 + b1)
    loss = ((h @ W2 + b2 - Y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
