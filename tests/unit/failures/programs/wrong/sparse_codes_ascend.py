import torch

dictionary = torch.randn(256, 64)
dictionary /= dictionary.norm(dim=1, keepdim=True)
signal = torch.randn(64)
code = torch.zeros(256, requires_grad=True)
rate = 1e-2

for _ in range(300):
    residual = signal - code @ dictionary
    energy = residual.pow(2).sum() + 0.1 * code.abs().sum()
    energy.backward()
    with torch.no_grad():
        code.add_(code.grad, alpha=rate)  #! 18
        code.grad.zero_()
