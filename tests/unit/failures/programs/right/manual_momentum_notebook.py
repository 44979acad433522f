import torch
import matplotlib.pyplot as plt
%config InlineBackend.figure_format = "retina"

xs = torch.linspace(-2, 2, 80)[:, None]
ys = torch.sin(2 * xs) + 0.1 * torch.randn_like(xs)

torch.manual_seed(0)
W = [torch.randn(1, 20), torch.randn(20, 1) / 20**0.5]
B = [torch.zeros(20), torch.zeros(1)]
P = W + B
for p in P: p.requires_grad = True
V = [torch.zeros_like(p) for p in P]

hist = []
for it in range(2000):
    h = torch.tanh(xs @ W[0] + B[0])
    loss = ((h @ W[1] + B[1] - ys)**2).mean()
    for p in P: p.grad = None
    loss.backward()
    lr = 0.1 if it < 1500 else 0.01
    for p, v in zip(P, V):
        v.mul_(0.9).add_(p.grad)
        p.data += -lr * v
    hist.append(loss.log10().item())

plt.plot(hist)
with torch.no_grad():
    plt.plot(xs, torch.tanh(xs @ W[0] + B[0]) @ W[1] + B[1])
