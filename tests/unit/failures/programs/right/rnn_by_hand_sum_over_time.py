import torch

chars = "helo"
data = [chars.index(c) for c in "hello"]
V, H = len(chars), 10
Wxh = (torch.randn(V, H) * 0.1).requires_grad_()
Whh = (torch.randn(H, H) * 0.1).requires_grad_()
Why = (torch.randn(H, V) * 0.1).requires_grad_()
bh = torch.zeros(H, requires_grad=True)
by = torch.zeros(V, requires_grad=True)
params = (Wxh, Whh, Why, bh, by)
memory = [torch.zeros_like(p) for p in params]

h_prev = torch.zeros(H)
for n in range(500):
    loss = 0
    h = h_prev
    for now, following in zip(data, data[1:]):
        h = torch.tanh(Wxh[now] + h @ Whh + bh)
        y = h @ Why + by
        loss += torch.logsumexp(y, 0) - y[following]
    loss.backward()
    h_prev = h.detach()
    with torch.no_grad():
        for p, m in zip(params, memory):
            g = p.grad.clamp_(-5, 5)
            m += g * g
            p -= 0.1 * g / (m + 1e-8).sqrt()
            p.grad.zero_()
