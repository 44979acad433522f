import torch


def scan(a, b, x0):
    """x[t] = a[t] * x[t - 1] + b[t]"""
    steps = a.shape[0]
    states = torch.empty(steps + 1, *x0.shape)
    states[0] = x0
    for t in range(steps):
        states[t + 1] = a[t] * states[t] + b[t]  #! 1
    return states[1:]


log_decay = torch.zeros(16, requires_grad=True)
inputs = torch.randn(50, 16)
out = scan(torch.sigmoid(log_decay).expand(50, 16), inputs, torch.zeros(16))
out.pow(2).mean().backward()
