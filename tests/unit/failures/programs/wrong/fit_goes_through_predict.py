import torch
from torch import nn


class Curve:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(1, 9), nn.Tanh(), nn.Linear(9, 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=0.01)

    @torch.no_grad()
    def predict(self, x):
        return self.net(x)

    def fit(self, x, y):
        for _ in range(20):
            loss = nn.functional.mse_loss(self.predict(x), y)  #! 4
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    def error(self, x, y):
        return (self.predict(x) - y).abs().max().item()


x = torch.linspace(-1, 1, 40).unsqueeze(1)
curve = Curve()
curve.fit(x, x**2)
print(curve.error(x, x**2))
