import torch

torch.manual_seed(0)
X = torch.randn(100, 5)
y = X @ torch.tensor([1.0, 0.0, 2.0, 0.0, 0.0]) + 0.1 * torch.randn(100)
w = torch.zeros(5, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.05)
l2 = 0.01 * (w**2).sum()  #! 2
for i in range(100):
    opt.zero_grad()
    loss = ((X @ w - y) ** 2).mean() + l2
    loss.backward()
    opt.step()
