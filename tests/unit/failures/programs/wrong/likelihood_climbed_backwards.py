import torch

x, label = torch.randn(40, 3), torch.randint(0, 2, (40,))
w = torch.zeros(3, 2, requires_grad=True)


def surprise(w):
    log_p = (x @ w).log_softmax(1)
    return -log_p[torch.arange(40), label].mean()


for _ in range(20):
    cost_now = surprise(w)
    cost_now.backward()
    with torch.no_grad():
        w.add_(w.grad, alpha=0.1)  #! 18
        w.grad.zero_()
