import torch

torch.manual_seed(0)
x = torch.randn(60, 3)
y = (x @ torch.tensor([1.0, 0.0, -1.0])).unsqueeze(1)


def start():
    return [torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)]


def descend(leaves, rate):
    return [leaf - rate * leaf.grad for leaf in leaves]  #! 5


leaves = start()
for _ in range(20):
    w, b = leaves
    loss = (x @ w + b - y).square().mean()
    loss.backward()
    leaves = descend(leaves, 0.1)
