import torch


class Line:
    def __init__(self):
        self.learned = {
            "slope": torch.zeros(1, requires_grad=True),
            "offset": (torch.ones(1) * 0.5).requires_grad_(),
        }

    def fit(self, x, y, rate):
        error = (self.learned["slope"] * x + self.learned["offset"] - y).square().mean()
        error.backward()
        with torch.no_grad():
            for name, value in self.learned.items():
                value = value - rate * value.grad  #! 5
        for value in self.learned.values():
            value.grad = None
        return error.item()


line = Line()
x = torch.linspace(0, 1, 50)
for epoch in range(100):
    print(line.fit(x, 3 * x - 1, 0.2))
