import torch

torch.manual_seed(0)
w = torch.randn(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
speed = [torch.zeros(3, 1), torch.zeros(1)]
x, y = torch.randn(40, 3), torch.randn(40, 1)
for _ in range(10):
    loss = ((x @ w + b - y) ** 2).mean()
    gradients = torch.autograd.grad(loss, [w, b])
    with torch.no_grad():
        for i, (p, g) in enumerate(zip((w, b), gradients)):
            speed[i] = 0.5 * speed[i] + 0.01 * g
            p += speed[i]  #! 18
