import torch

torch.manual_seed(2)
A = torch.randn(40, 6)
b = A @ torch.arange(1.0, 7.0) + 0.05 * torch.randn(40)


class Fit:
    def __init__(self):
        self.coef = torch.nn.Parameter(torch.zeros(6))
        self.opt = torch.optim.LBFGS([self.coef], lr=0.5, max_iter=4)

    def closure(self):
        residual = A @ self.coef - b
        loss = 0.5 * residual.square().mean() + 1e-3 * self.coef.square().sum()
        loss.backward()  #! 6
        return loss

    def run(self, rounds):
        for _ in range(rounds):
            self.opt.step(self.closure)


fit = Fit()
fit.run(6)
print(fit.coef.detach())
