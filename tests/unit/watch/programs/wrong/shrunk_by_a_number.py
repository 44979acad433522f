import torch

torch.manual_seed(0)
x = torch.randn(30, 12)
y = x[:, 0] - x[:, 1]
w = torch.nn.Parameter(torch.zeros(12))
opt = torch.optim.SGD([w], lr=0.05)


def size():
    return float(w.pow(2).sum())  #! 13


for _ in range(12):
    loss = (x @ w - y).pow(2).mean() + 0.3 * size()
    opt.zero_grad()
    loss.backward()
    opt.step()
