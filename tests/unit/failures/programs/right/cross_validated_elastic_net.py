import torch


class ElasticNet(torch.nn.Module):
    def __init__(self, n, l1=0.01, l2=0.01):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(n))
        self.bias = torch.nn.Parameter(torch.zeros(()))
        self.l1, self.l2 = l1, l2

    def forward(self, X):
        return X @ self.weight + self.bias

    def penalty(self):
        return self.l1 * self.weight.abs().sum() + self.l2 * self.weight.square().sum()


def fit(X, y, l1, l2, iterations=200):
    model = ElasticNet(X.shape[1], l1, l2)
    opt = torch.optim.LBFGS(model.parameters(), lr=1, max_iter=iterations)

    def closure():
        opt.zero_grad()
        objective = (model(X) - y).square().mean() + model.penalty()
        objective.backward()
        return objective

    opt.step(closure)
    return model


X, y = torch.randn(200, 30), torch.randn(200)
scores = {}
for l1 in (0.001, 0.01, 0.1):
    errors = []
    for fold in torch.arange(200).chunk(5):
        keep = torch.ones(200, dtype=torch.bool)
        keep[fold] = False
        model = fit(X[keep], y[keep], l1, 0.01)
        with torch.no_grad():
            errors.append((model(X[fold]) - y[fold]).square().mean().item())
    scores[l1] = sum(errors) / len(errors)
print(min(scores, key=scores.get))
