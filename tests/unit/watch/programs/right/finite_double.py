import torch
torch.manual_seed(0)
def f(x):
    return (x.sin() * x.exp()).sum()
x = torch.randn(5, dtype=torch.float64, requires_grad=True)
f(x).backward()
eps = 1e-6
for i in range(5):
    with torch.no_grad():
        a, b = x.clone(), x.clone()
        a[i] += eps
        b[i] -= eps
        num = (f(a) - f(b)) / (2 * eps)
    assert abs(num.item() - x.grad[i].item()) < 1e-6
