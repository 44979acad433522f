import torch

torch.manual_seed(3)
x = torch.rand(60, 2)
y = x @ torch.tensor([2.0, -1.0]) + 0.5
leaves = {"slope": torch.zeros(2, requires_grad=True), "offset": torch.zeros((), requires_grad=True)}


def descend(tensors, rate):
    with torch.no_grad():
        for tensor in tensors:
            tensor = tensor - rate * tensor.grad  #! 5


for _ in range(40):
    for leaf in leaves.values():
        leaf.grad = None
    loss = (x @ leaves["slope"] + leaves["offset"] - y).square().mean()
    loss.backward()
    descend(leaves.values(), 0.2)
