import torch

pts = torch.nn.Parameter(torch.randn(10, 2))
opt = torch.optim.SGD([pts], lr=0.1)
for _ in range(100):
    d2 = ((pts[:, None] - pts[None, :]) ** 2).sum(-1)
    d = (d2 + 1e-9).sqrt()
    i, j = torch.triu_indices(10, 10, offset=1)
    loss = ((d[i, j] - 1) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
