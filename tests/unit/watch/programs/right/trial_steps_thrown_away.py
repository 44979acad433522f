import torch

torch.manual_seed(2)
x = torch.rand(50, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5])
w = torch.zeros(3, requires_grad=True)


def cost(weights):
    return (x @ weights - y).square().mean()


for _ in range(30):
    w.grad = None
    loss = cost(w)
    loss.backward()
    with torch.no_grad():
        rate = 2.0
        trial = w - rate * w.grad
        while cost(trial) > loss and rate > 1e-4:  # the longest step that goes down
            rate /= 2
            trial = w - rate * w.grad
        w.copy_(trial)
