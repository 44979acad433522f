import torch

image = torch.rand(1, 3, 8, 8, requires_grad=True)
pattern = torch.randn(1, 3, 8, 8)
for _ in range(20):
    activation = (torch.sin(image) * pattern).sum()
    activation.backward()
    with torch.no_grad():
        image += 0.1 * image.grad
        image.grad.zero_()
        image.clamp_(0, 1)
