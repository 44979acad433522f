import torch


class Descent:
    def __init__(self, weights, rate):
        self.weights, self.rate = list(weights), rate

    def zero_grad(self):
        for w in self.weights:
            setattr(w, "grad", None)

    @torch.no_grad()
    def step(self):
        for w in self.weights:
            w.sub_(w.grad, alpha=self.rate)


x = torch.randn(100, 3)
y = x.sum(1)
w = torch.zeros(3, requires_grad=True)
descent = Descent([w], 0.1)
for _ in range(50):
    descent.zero_grad()
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    descent.step()
