import torch


def safe_sqrt(x):
    return torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x))  #! 20


v = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
safe_sqrt(v).sum().backward()
print(v.grad)
