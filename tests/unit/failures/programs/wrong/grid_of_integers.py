import torch


def grid(lo, hi, n):
    step = (hi - lo) // n
    return torch.arange(lo, hi + step, step)  #! 22


x = grid(-10, 10, 10)
x.requires_grad_(True)
