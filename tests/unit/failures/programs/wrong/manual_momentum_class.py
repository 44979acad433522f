import torch


class Momentum:
    def __init__(self, params, lr=0.1, beta=0.9):
        self.params = list(params)
        self.v = [torch.zeros_like(p) for p in self.params]
        self.lr, self.beta = lr, beta

    def step(self):
        with torch.no_grad():
            for p, v in zip(self.params, self.v):
                v.mul_(self.beta).add_(p.grad)
                p -= self.lr * v


w = torch.randn(4, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
opt = Momentum([w, b])
X, y = torch.randn(64, 4), torch.randn(64, 1)
for _ in range(200):
    loss = ((X @ w + b - y) ** 2).mean()
    loss.backward()  #! 6
    opt.step()
