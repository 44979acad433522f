import torch

learned = {"w": torch.randn(3, requires_grad=True), "b": torch.zeros(1, requires_grad=True)}
x, y = torch.randn(40, 3), torch.randn(40)
for step in range(200):
    loss = ((x @ learned["w"] + learned["b"] - y) ** 2).mean()
    loss.backward()
    for name, value in learned.items():
        value = value.detach() - 0.05 * value.grad
        learned[name] = value.requires_grad_()
