import torch
from torch.autograd import gradcheck


def soft_sign(x, sharp):
    return x * sharp / (1 + (x * sharp).abs())


def sample(count=5, precision=torch.float32):  #! 23
    x = torch.randn(count, dtype=precision, requires_grad=True)
    return x, torch.tensor(2.0, dtype=precision, requires_grad=True)


print(gradcheck(soft_sign, sample()))
