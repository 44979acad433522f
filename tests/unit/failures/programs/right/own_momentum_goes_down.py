import torch


class Rolling:
    def __init__(self, weights, rate):
        self.weights = list(weights)
        self.speeds = [torch.zeros_like(w) for w in self.weights]
        self.rate = rate

    @torch.no_grad()
    def step(self):
        for weight, speed in zip(self.weights, self.speeds):
            speed.mul_(0.8).add_(weight.grad, alpha=-self.rate)
            weight.add_(speed)
            weight.grad = None


net = torch.nn.Linear(3, 1)
roll = Rolling(net.parameters(), 0.01)
rows = torch.randn(40, 3)
for _ in range(30):
    loss = torch.nn.functional.mse_loss(net(rows), rows.sum(1, keepdim=True))
    loss.backward()
    roll.step()
